import { Module } from '@nestjs/common';
import { ContactLookup } from './contact-lookup.js';
import { InternalContactsController } from './internal-contacts.controller.js';
import { InternalContactsService } from './internal-contacts.service.js';

/** Contacts, and what other modules ask about them. */
@Module({
  controllers: [InternalContactsController],
  providers: [ContactLookup, InternalContactsService],
  exports: [ContactLookup],
})
export class ContactsModule {}
