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
import { CreateActivityTypeDto, ActivityTypeDto, UpdateActivityTypeDto } from './activity-type.dto.js';
import type { ActivityType } from './activity-type.entity.js';
import { ACTIVITY_TYPES_LIST } from './activity-types.list.js';
import { ActivityTypesService } from './activity-types.service.js';
import { toActivityTypeDto } from './to-activity-type-dto.js';

@Controller('v1/crm/activity-types')
export class ActivityTypesController {
  constructor(private readonly activityTypes: ActivityTypesService) {}

  @CreateEndpoint({
    permission: 'crm.activity_types.create',
    summary: 'Create an activity type',
    response: ActivityTypeDto,
    problems: ['duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateActivityTypeDto): Promise<Answer> {
    const activityType = await this.activityTypes.create(context, body);
    const location = `/v1/crm/activity-types/${activityType.id}`;
    return Answer.created(toActivityTypeDto(activityType), location, { ETag: versionTag(activityType) });
  }

  @ListEndpoint({
    permission: 'crm.activity_types.read',
    summary: 'List activity types',
    response: ActivityTypeDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(ACTIVITY_TYPES_LIST) query: ListQuery,
  ): Promise<Page<ActivityTypeDto>> {
    const { data, page } = await this.activityTypes.list(context, query);
    return { data: data.map(toActivityTypeDto), page };
  }

  @GetEndpoint({
    permission: 'crm.activity_types.read',
    summary: 'Read an activity type',
    response: ActivityTypeDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.activityTypes.get(context, id));
  }

  @UpdateEndpoint({
    permission: 'crm.activity_types.update',
    summary: 'Change an activity type',
    description:
      'Lists are given whole. What activities hold is neither removed nor made invalid by it: 409.',
    response: ActivityTypeDto,
    problems: ['field_in_use', 'records_incompatible'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateActivityTypeDto,
  ): Promise<Answer> {
    return tagged(await this.activityTypes.update(context, id, body));
  }

  @SoftDeleteEndpoint({ permission: 'crm.activity_types.delete', summary: 'Soft-delete an activity type' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.activityTypes.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'crm.activity_types.delete',
    summary: 'Restore an activity type',
    response: ActivityTypeDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.activityTypes.restore(context, id));
  }

  @PurgeEndpoint({ permission: 'crm.activity_types.purge', summary: 'Purge a soft-deleted activity type' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.activityTypes.purge(context, id);
  }
}

const tagged = (activityType: ActivityType): Answer =>
  Answer.tagged(toActivityTypeDto(activityType), versionTag(activityType));
