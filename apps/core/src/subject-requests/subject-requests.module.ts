import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/contacts.module.js';
import { MergesModule } from '../contacts/merge/merges.module.js';
import { BlocklistModule } from './blocklist/blocklist.module.js';
import { DueWarnings } from './due-warnings.js';
import { ErasureRunner } from './erasure/erasure-runner.js';
import { ErasureSignal } from './erasure/erasure.signal.js';
import { ErasureStart } from './erasure/erasure-start.js';
import { ReceiptKeysModule } from './erasure/receipt-keys.module.js';
import { ReceiptSignal } from './erasure/receipt.signal.js';
import { ReceiptVerifier } from './erasure/receipt-verifier.js';
import { Receipts } from './erasure/receipts.js';
import { ReceiptsConsumer } from './erasure/receipts.consumer.js';
import { SubjectRequestsController } from './subject-requests.controller.js';
import { SubjectRequestsService } from './subject-requests.service.js';

/** The rights of data subjects. */
@Module({
  imports: [BlocklistModule, ContactsModule, MergesModule, ReceiptKeysModule],
  controllers: [ReceiptsConsumer, SubjectRequestsController],
  providers: [
    DueWarnings,
    ErasureRunner,
    ErasureSignal,
    ErasureStart,
    Receipts,
    ReceiptSignal,
    ReceiptVerifier,
    SubjectRequestsService,
  ],
})
export class SubjectRequestsModule {}
