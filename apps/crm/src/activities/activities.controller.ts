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
import { CreateActivityDto, ActivityDto, UpdateActivityDto } from './activity.dto.js';
import { ACTIVITIES_LIST } from './activities.list.js';
import { ActivitiesService } from './activities.service.js';
import { toActivityDto, type ShownActivity } from './to-activity-dto.js';

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
    const shown = await this.activities.create(context, body);
    const { activity } = shown;
    const location = `/v1/crm/activities/${activity.id}`;
    return Answer.created(toActivityDto(shown), location, { ETag: versionTag(activity) });
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
    const { data, page } = await this.activities.list(context, query);
    return { data: data.map(toActivityDto), page };
  }

  @GetEndpoint({ permission: 'crm.activities.read', summary: 'Read an activity', response: ActivityDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.activities.get(context, id));
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
    return tagged(await this.activities.update(context, id, body));
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
    return tagged(await this.activities.restore(context, id));
  }

  @PurgeEndpoint({ permission: 'crm.activities.purge', summary: 'Purge a soft-deleted activity' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.activities.purge(context, id);
  }
}

const tagged = (shown: ShownActivity): Answer =>
  Answer.tagged(toActivityDto(shown), versionTag(shown.activity));
