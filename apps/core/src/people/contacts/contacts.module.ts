import { Module } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { TenantTallies } from '@customer-platform/database';
import { BlocklistModule } from '../../blocklist/blocklist.module.js';
import { FollowingModule } from '../../following/following.module.js';
import { ContactBatches } from './batch/contact-batches.js';
import { ContactCounters } from './contact-counters.js';
import { ContactHooks } from './contact-hooks.js';
import { ContactIdentities } from './contact-identities.js';
import { ContactLookup } from './contact-lookup.js';
import { ContactsController } from './contacts.controller.js';
import { ContactsService } from './contacts.service.js';
import { InternalContactsController } from './internal-contacts.controller.js';
import { InternalContactsService } from './internal-contacts.service.js';
import { NationalIdController } from '../national-ids/national-id.controller.js';
import { NationalIdLookup } from '../national-ids/national-id-lookup.js';
import { NationalIdService } from '../national-ids/national-id.service.js';
import { MASTER_KEY, NationalIdVault } from '../national-ids/national-id.vault.js';

/** Contacts, and what other modules ask about them. */
@Module({
  imports: [BlocklistModule, FollowingModule],
  controllers: [ContactsController, InternalContactsController, NationalIdController],
  providers: [
    { provide: MASTER_KEY, useFactory: () => keyringOf(readConfig(encryptionConfig)) },
    ContactBatches,
    ContactCounters,
    ContactHooks,
    ContactIdentities,
    ContactLookup,
    ContactsService,
    InternalContactsService,
    NationalIdLookup,
    NationalIdService,
    NationalIdVault,
    TenantTallies,
  ],
  exports: [ContactBatches, ContactHooks, ContactIdentities, ContactLookup, ContactsService, NationalIdVault],
})
export class ContactsModule {}
