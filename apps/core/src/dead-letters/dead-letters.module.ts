import { Module } from '@nestjs/common';
import { PeopleModule } from '../people/people.module.js';
import { ProcessingModule } from '../processing/processing.module.js';
import { FollowingModule } from '../following/following.module.js';
import { DeadLetterReplayer } from './dead-letter.replayer.js';
import { DeadLettersController } from './dead-letters.controller.js';
import { DeadLettersService } from './dead-letters.service.js';
import { LoyaltyFailuresController } from './loyalty-failures.controller.js';
import { ReplaySignal } from './replay.signal.js';
import { StoredEventLetters } from './stored-event-letters.js';

/** The events that failed, and their replay. */
@Module({
  imports: [FollowingModule, PeopleModule, ProcessingModule],
  controllers: [DeadLettersController, LoyaltyFailuresController],
  providers: [DeadLetterReplayer, DeadLettersService, ReplaySignal, StoredEventLetters],
  exports: [StoredEventLetters],
})
export class DeadLettersModule {}
