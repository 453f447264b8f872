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
import {
  CreateActivityDto,
  ActivityDto,
  UpdateActivityDto,
  ACTIVITIES_LIST,
  toActivityDto,
} from './activity.dto.js';
import { ActivitiesService } from './activities.service.js';

@Controller('v1/crm/activities')
export class ActivitiesController {
  constructor(private readonly activities: ActivitiesService) {}

  @CreateEndpoint({
    permission: 'crm.activities.create',
    summary: 'Plan or record an activity with a contact',
    response: ActivityDto,
    problems: ['reference_not_found', 'reference_deleted', 'dependency_unavailable'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateActivityDto): Promise<Answer> {
    return Answer.newResource(
      toActivityDto(await this.activities.create(context, body)),
      '/v1/crm/activities',
    );
  }

  @ListEndpoint({
    permission: 'crm.activities.read',
    summary: 'List activities',
    response: ActivityDto,
    problems: ['dependency_unavailable'],
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(ACTIVITIES_LIST) query: ListQuery,
  ): Promise<Page<ActivityDto>> {
    return mapPage(await this.activities.list(context, query), toActivityDto);
  }

  @GetEndpoint({ permission: 'crm.activities.read', summary: 'Read an activity', response: ActivityDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toActivityDto(await this.activities.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'crm.activities.update',
    summary: 'Change an activity',
    description:
      'Open activities are completed or cancelled, and these opened again; never one turned into the other.',
    response: ActivityDto,
    problems: ['invalid_state', 'reference_not_found', 'reference_deleted', 'dependency_unavailable'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateActivityDto,
  ): Promise<Answer> {
    return Answer.resource(toActivityDto(await this.activities.update(context, id, body)));
  }

  @SoftDeleteEndpoint({ permission: 'crm.activities.delete', summary: 'Soft-delete an activity' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.activities.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'crm.activities.delete',
    summary: 'Restore an activity',
    response: ActivityDto,
    problems: ['records_incompatible'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toActivityDto(await this.activities.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'crm.activities.purge', summary: 'Purge a soft-deleted activity' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.activities.purge(context, id);
  }
}
