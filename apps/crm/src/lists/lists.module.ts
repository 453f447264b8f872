import { Module } from '@nestjs/common';
import { ContactRefsModule } from '../contact-refs/contact-refs.module.js';
import { InternalAudienceController } from './audience/internal-audience.controller.js';
import { InternalAudienceService } from './audience/internal-audience.service.js';
import { ListMembersController } from './list-members.controller.js';
import { ListMembersRepository } from './list-members.repository.js';
import { ListMembersService } from './list-members.service.js';
import { ListsController } from './lists.controller.js';
import { ListsService } from './lists.service.js';

/** Lists of contacts, and who is on them. */
@Module({
  imports: [ContactRefsModule],
  controllers: [InternalAudienceController, ListsController, ListMembersController],
  providers: [InternalAudienceService, ListsService, ListMembersService, ListMembersRepository],
})
export class ListsModule {}
