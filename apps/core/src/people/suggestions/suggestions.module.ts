import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/contacts.module.js';
import { SuggestionsController } from './suggestions.controller.js';
import { SuggestionsRepository } from './suggestions.repository.js';
import { SuggestionsService } from './suggestions.service.js';

/** Contacts that may be one person. */
@Module({
  imports: [ContactsModule],
  controllers: [SuggestionsController],
  providers: [SuggestionsRepository, SuggestionsService],
  exports: [SuggestionsRepository],
})
export class SuggestionsModule {}
