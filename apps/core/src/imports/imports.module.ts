import { Module } from '@nestjs/common';
import { Installation, retentionOf, type RetentionOptions } from '@customer-platform/database';
import { PeopleModule } from '../people/people.module.js';
import { DownloadsModule } from '../downloads/downloads.module.js';
import { FileStore } from './files/file-store.js';
import { configuredStore, ImportFiles } from './files/import-files.js';
import { ImportsController } from './imports.controller.js';
import { ImportsService } from './imports.service.js';
import { ImportPiece } from './running/import-piece.js';
import { ImportRunner } from './running/import-runner.js';
import { ImportSignal } from './running/import.signal.js';
import { ImportWatch } from './running/import-watch.js';
import { ImportUpload } from './upload/import-upload.js';
import { UploadSlots } from './upload/upload-slots.js';

/** Errors repeat what stood in files: nobody mends a file so long afterwards. */
export const OLD_IMPORT_ERRORS: RetentionOptions = {
  name: 'import-error-retention',
  table: 'import_errors',
  where: `(old.organization_id, old.import_id) IN (
            SELECT organization_id, id FROM imports WHERE errors > 0 AND ended_at < $1)`,
  keptMs: 90 * 24 * 3_600_000,
  everyMs: 3_600_000,
};

/** Imports of contacts. */
@Module({
  imports: [DownloadsModule, PeopleModule],
  controllers: [ImportsController],
  providers: [
    { provide: FileStore, useFactory: configuredStore, inject: [Installation] },
    ImportFiles,
    ImportPiece,
    ImportRunner,
    ImportSignal,
    ImportsService,
    ImportUpload,
    ImportWatch,
    UploadSlots,
    retentionOf(OLD_IMPORT_ERRORS),
  ],
})
export class ImportsModule {}
