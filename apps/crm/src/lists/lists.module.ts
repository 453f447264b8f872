import { AudienceModule } from '@customer-platform/database';
import { Module } from '@nestjs/common';
import { ContactRefsModule } from '../contact-refs/contact-refs.module.js';
import { LIST_AUDIENCE } from './audience/list-audience.js';
import { ListMembersController } from './list-members.controller.js';
import { ListMembersRepository } from './list-members.repository.js';
import { ListMembersService } from './list-members.service.js';
import { ListsController } from './lists.controller.js';
import { ListsService } from './lists.service.js';

/** Lists of contacts, and who is on them. */
@Module({
  imports: [AudienceModule.forRoot(LIST_AUDIENCE), ContactRefsModule],
  controllers: [ListsController, ListMembersController],
  providers: [ListsService, ListMembersService, ListMembersRepository],
})
export class ListsModule {}
