import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/contacts.module.js';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesRepository } from './identities.repository.js';
import { IdentitiesService } from './identities.service.js';

/** What contacts are found by. */
@Module({
  imports: [ContactsModule],
  controllers: [IdentitiesController],
  providers: [IdentitiesRepository, IdentitiesService],
})
export class IdentitiesModule {}
