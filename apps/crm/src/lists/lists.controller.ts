import { Controller } from '@nestjs/common';
import { versionTag } from '@customer-platform/database';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  PurgeEndpoint,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import { CreateListDto, ListDto, UpdateListDto } from './list.dto.js';
import type { List } from './list.entity.js';
import { LISTS_LIST } from './lists.list.js';
import { ListsService } from './lists.service.js';
import { toListDto } from './to-list-dto.js';

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
    const list = await this.lists.create(context, body);
    return Answer.created(toListDto(list), `/v1/crm/lists/${list.id}`, { ETag: versionTag(list) });
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
    const { data, page } = await this.lists.list(context, query);
    return { data: data.map(toListDto), page };
  }

  @GetEndpoint({ permission: 'crm.lists.read', summary: 'Read a list', response: ListDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.lists.get(context, id));
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
    return tagged(await this.lists.update(context, id, body));
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
    return tagged(await this.lists.restore(context, id));
  }

  @PurgeEndpoint({ permission: 'crm.lists.purge', summary: 'Purge a soft-deleted list' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.lists.purge(context, id);
  }
}

const tagged = (list: List): Answer => Answer.tagged(toListDto(list), versionTag(list));
