import { Module } from '@nestjs/common';
import {
  ContactFollower,
  ContactReferences,
  ContactRefs,
  ContactRowsRegistry,
  CoreContacts,
} from '@customer-platform/contact-refs';
import { ErasureModule } from '@customer-platform/erasure';
import { ContactRefsConsumer } from './contact-refs.consumer.js';

/** What crm knows of core's contacts, and where the rows that belong to them go. */
@Module({
  imports: [ErasureModule.forRoot({ module: 'crm' })],
  controllers: [ContactRefsConsumer],
  providers: [
    { provide: ContactRefs, useFactory: () => new ContactRefs() },
    ContactFollower,
    ContactReferences,
    ContactRowsRegistry,
    CoreContacts,
  ],
  exports: [ContactFollower, ContactReferences, ContactRefs, ContactRowsRegistry, ErasureModule],
})
export class ContactRefsModule {}
