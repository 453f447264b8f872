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
  CreateActivityTypeDto,
  ActivityTypeDto,
  UpdateActivityTypeDto,
  ACTIVITY_TYPES_LIST,
  toActivityTypeDto,
} from './activity-type.dto.js';
import { ActivityTypesService } from './activity-types.service.js';

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
    return Answer.newResource(
      toActivityTypeDto(await this.activityTypes.create(context, body)),
      '/v1/crm/activity-types',
    );
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
    return mapPage(await this.activityTypes.list(context, query), toActivityTypeDto);
  }

  @GetEndpoint({
    permission: 'crm.activity_types.read',
    summary: 'Read an activity type',
    response: ActivityTypeDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toActivityTypeDto(await this.activityTypes.get(context, id)));
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
    return Answer.resource(toActivityTypeDto(await this.activityTypes.update(context, id, body)));
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
    return Answer.resource(toActivityTypeDto(await this.activityTypes.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'crm.activity_types.purge', summary: 'Purge a soft-deleted activity type' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.activityTypes.purge(context, id);
  }
}
