import { Module } from '@nestjs/common';
import { ConsentsModule } from './consents/consents.module.js';
import { ContactsModule } from './contacts/contacts.module.js';
import { IdentitiesModule } from './identities/identities.module.js';
import { MergesModule } from './merges/merges.module.js';
import { SuggestionsModule } from './suggestions/suggestions.module.js';

/** Contacts and all that makes them people: identities, consents, national ids, and who is one with whom. */
@Module({
  imports: [ConsentsModule, ContactsModule, IdentitiesModule, MergesModule, SuggestionsModule],
  exports: [ConsentsModule, ContactsModule, MergesModule, SuggestionsModule],
})
export class PeopleModule {}
