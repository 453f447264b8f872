import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/contacts.module.js';
import { FollowingModule } from '../../following/following.module.js';
import { ConsentExpiry } from './consent-expiry.js';
import { ConsentRecorder } from './consent-recorder.js';
import { ConsentsController } from './consents.controller.js';
import { ConsentsRepository } from './consents.repository.js';
import { ConsentsService } from './consents.service.js';

/** What contacts have agreed to. */
@Module({
  imports: [ContactsModule, FollowingModule],
  controllers: [ConsentsController],
  providers: [ConsentExpiry, ConsentRecorder, ConsentsRepository, ConsentsService],
  exports: [ConsentRecorder, ConsentsRepository, ConsentsService],
})
export class ConsentsModule {}
