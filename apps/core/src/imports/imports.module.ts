import { Module } from '@nestjs/common';
import { ConsentsModule } from '../consents/consents.module.js';
import { ContactsModule } from '../contacts/contacts.module.js';
import { ImportFiles } from './files/import-files.js';
import { ImportsController } from './imports.controller.js';
import { ImportsService } from './imports.service.js';
import { ImportPiece } from './running/import-piece.js';
import { ImportRunner } from './running/import-runner.js';
import { ImportSignal } from './running/import.signal.js';
import { ImportUpload } from './upload/import-upload.js';

/** Imports of contacts. */
@Module({
  imports: [ConsentsModule, ContactsModule],
  controllers: [ImportsController],
  providers: [ImportFiles, ImportPiece, ImportRunner, ImportSignal, ImportsService, ImportUpload],
})
export class ImportsModule {}
