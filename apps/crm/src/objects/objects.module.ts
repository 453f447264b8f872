import { Module } from '@nestjs/common';
import { ContactRowsRegistry } from '@customer-platform/contact-refs';
import { ContactRefsModule } from '../contact-refs/contact-refs.module.js';
import { KnownDefinitions } from './definitions/known-definitions.js';
import { ObjectDefinitionsController } from './definitions/object-definitions.controller.js';
import { ObjectDefinitionsService } from './definitions/object-definitions.service.js';
import { IndexBuilder } from './indexing/index-builder.js';
import { ContactRecordsJob } from './records/contact-records.job.js';
import { ObjectRecordsController } from './records/object-records.controller.js';
import { ObjectRecordsService } from './records/object-records.service.js';
import { RecordsOfContacts } from './records/records-of-contacts.js';

/** Custom objects: their definitions, their records, and the indexes over these. */
@Module({
  imports: [ContactRefsModule],
  controllers: [ObjectDefinitionsController, ObjectRecordsController],
  providers: [
    ContactRecordsJob,
    IndexBuilder,
    KnownDefinitions,
    ObjectDefinitionsService,
    ObjectRecordsService,
    RecordsOfContacts,
  ],
  exports: [IndexBuilder],
})
export class ObjectsModule {
  constructor(contactRows: ContactRowsRegistry, records: RecordsOfContacts) {
    contactRows.addSettled(records);
  }
}
