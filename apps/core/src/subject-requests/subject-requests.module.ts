import { Module } from '@nestjs/common';
import { PeopleModule } from '../people/people.module.js';
import { DownloadsModule } from '../downloads/downloads.module.js';
import { retentionOf, type RetentionOptions } from '@customer-platform/database';
import { ArchiveDownload } from './archive/archive-download.js';
import { ArchiveGatherer } from './archive/archive-gatherer.js';
import { ArchiveRunner } from './archive/archive-runner.js';
import { ArchiveSeal } from './archive/archive-seal.js';
import { ArchiveSources } from './archive/archive-sources.js';
import { ArchiveStart } from './archive/archive-start.js';
import { ArchiveWriter } from './archive/archive-writer.js';
import { ArchiveSignal } from './archive/archive.signal.js';
import { BlocklistModule } from '../blocklist/blocklist.module.js';
import { ManualCompletion } from './manual-completion.js';
import { DueWarnings } from './due-warnings.js';
import { ErasureRunner } from './erasure/erasure-runner.js';
import { ErasureSignal } from './erasure/erasure.signal.js';
import { ErasureStart } from './erasure/erasure-start.js';
import { ReceiptKeysModule } from './erasure/receipt-keys.module.js';
import { ReceiptSignal } from './erasure/receipt.signal.js';
import { ReceiptVerifier } from './erasure/receipt-verifier.js';
import { Receipts } from './erasure/receipts.js';
import { ReceiptsConsumer } from './erasure/receipts.consumer.js';
import { RequestsEnd } from './requests-end.js';
import { SubjectRequestsController } from './subject-requests.controller.js';
import { SubjectRequestsService } from './subject-requests.service.js';

/** With their pieces; of the request that asked for one, what it was stays. */
export const EXPIRED_ARCHIVES: RetentionOptions = {
  name: 'expired-subject-archives',
  table: 'subject_archives',
  where: 'old.expires_at <= $1',
  oldestBy: 'expires_at',
  keptMs: 0,
  // Each may have hundreds of pieces.
  rowsAtOnce: 50,
};

/** The rights of data subjects. */
@Module({
  imports: [BlocklistModule, DownloadsModule, PeopleModule, ReceiptKeysModule],
  controllers: [ReceiptsConsumer, SubjectRequestsController],
  providers: [
    ArchiveDownload,
    ArchiveGatherer,
    ArchiveRunner,
    ArchiveSeal,
    ArchiveSignal,
    ArchiveSources,
    ArchiveStart,
    ArchiveWriter,
    ManualCompletion,
    retentionOf(EXPIRED_ARCHIVES),
    DueWarnings,
    ErasureRunner,
    ErasureSignal,
    ErasureStart,
    Receipts,
    ReceiptSignal,
    ReceiptVerifier,
    RequestsEnd,
    SubjectRequestsService,
  ],
  exports: [ReceiptKeysModule],
})
export class SubjectRequestsModule {}
