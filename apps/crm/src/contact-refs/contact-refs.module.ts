import { Module } from '@nestjs/common';
import { ErasureModule } from '@customer-platform/erasure';
import { ContactReferences } from './contact-references.service.js';
import { ContactRefsConsumer } from './contact-refs.consumer.js';
import { ContactRefsRepository } from './contact-refs.repository.js';
import { ContactRefs } from './contact-refs.service.js';
import { ContactRowsRegistry } from './contact-rows.js';

/** What crm knows of core's contacts, and where the rows that belong to them go. */
@Module({
  imports: [ErasureModule.forRoot({ module: 'crm' })],
  controllers: [ContactRefsConsumer],
  providers: [ContactReferences, ContactRefs, ContactRefsRepository, ContactRowsRegistry],
  exports: [ContactReferences, ContactRefs, ContactRowsRegistry],
})
export class ContactRefsModule {}
