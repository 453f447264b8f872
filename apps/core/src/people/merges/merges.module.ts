import { Module } from '@nestjs/common';
import { ConsentsModule } from '../consents/consents.module.js';
import { FollowingModule } from '../../following/following.module.js';
import { ContactsModule } from '../contacts/contacts.module.js';
import { SuggestionsModule } from '../suggestions/suggestions.module.js';
import { ContactMerger } from './contact-merger.js';
import { ContactMergesController } from './contact-merges.controller.js';
import { ContactMergesService } from './contact-merges.service.js';
import { ContactPair } from './contact-pair.js';
import { ContactParter } from './contact-parter.js';
import { MergeAnnouncements } from './merge-announcements.js';
import { MergeConsents } from './merge-consents.js';
import { MergesController } from './merges.controller.js';
import { MergesRepository } from './merges.repository.js';
import { MergesService } from './merges.service.js';

/** Contacts that turn out to be one person, and that turn out not to be. */
@Module({
  imports: [ConsentsModule, ContactsModule, FollowingModule, SuggestionsModule],
  controllers: [ContactMergesController, MergesController],
  providers: [
    ContactMerger,
    ContactMergesService,
    ContactPair,
    ContactParter,
    MergeAnnouncements,
    MergeConsents,
    MergesRepository,
    MergesService,
  ],
  exports: [ContactMerger, ContactPair],
})
export class MergesModule {}
