import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  mapPage,
  type ListQuery,
  type Page,
  PurgeEndpoint,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import { CreateListDto, ListDto, UpdateListDto, LISTS_LIST, toListDto } from './list.dto.js';
import { ListsService } from './lists.service.js';

@Controller('v1/crm/lists')
export class ListsController {
  constructor(private readonly lists: ListsService) {}

  @CreateEndpoint({
    permission: 'crm.lists.create',
    summary: 'Create a list',
    response: ListDto,
    problems: ['duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateListDto): Promise<Answer> {
    return Answer.newResource(toListDto(await this.lists.create(context, body)), '/v1/crm/lists');
  }

  @ListEndpoint({
    permission: 'crm.lists.read',
    summary: 'List lists',
    response: ListDto,
    problems: ['dependency_unavailable'],
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(LISTS_LIST) query: ListQuery,
  ): Promise<Page<ListDto>> {
    return mapPage(await this.lists.list(context, query), toListDto);
  }

  @GetEndpoint({ permission: 'crm.lists.read', summary: 'Read a list', response: ListDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toListDto(await this.lists.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'crm.lists.update',
    summary: 'Change a list',
    response: ListDto,
    problems: ['duplicate_value'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateListDto,
  ): Promise<Answer> {
    return Answer.resource(toListDto(await this.lists.update(context, id, body)));
  }

  @SoftDeleteEndpoint({ permission: 'crm.lists.delete', summary: 'Soft-delete a list' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.lists.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'crm.lists.delete',
    summary: 'Restore a list',
    response: ListDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toListDto(await this.lists.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'crm.lists.purge', summary: 'Purge a soft-deleted list' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.lists.purge(context, id);
  }
}
