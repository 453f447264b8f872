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
import { CreateRuleDto, RuleDto, UpdateRuleDto, ROUTING_LIST, toRuleDto } from './rule.dto.js';
import { RoutingService } from './routing.service.js';

const REFERENCES = [
  'privilege_escalation',
  'reference_not_found',
  'reference_deleted',
  'duplicate_value',
  'invalid_address',
] as const;

@Controller('v1/messaging/event-routing')
export class RoutingController {
  constructor(private readonly rules: RoutingService) {}

  @CreateEndpoint({
    permission: 'messaging.routing.update',
    summary: 'Create a routing rule',
    response: RuleDto,
    problems: [...REFERENCES, 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateRuleDto): Promise<Answer> {
    return Answer.newResource(
      toRuleDto(await this.rules.create(context, body)),
      '/v1/messaging/event-routing',
    );
  }

  @ListEndpoint({ permission: 'messaging.routing.read', summary: 'List routing rules', response: RuleDto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(ROUTING_LIST) query: ListQuery,
  ): Promise<Page<RuleDto>> {
    return mapPage(await this.rules.list(context, query), toRuleDto);
  }

  @GetEndpoint({ permission: 'messaging.routing.read', summary: 'Read a routing rule', response: RuleDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toRuleDto(await this.rules.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'messaging.routing.update',
    summary: 'Change a routing rule',
    description:
      'Disabling a rule cancels its delayed sends. What it carries, to whom, and `adopt` take the permissions that read it.',
    response: RuleDto,
    problems: REFERENCES,
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateRuleDto,
  ): Promise<Answer> {
    return Answer.resource(toRuleDto(await this.rules.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'messaging.routing.delete',
    summary: 'Soft-delete a routing rule',
    description: 'Its delayed sends are canceled.',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.rules.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'messaging.routing.delete',
    summary: 'Restore a routing rule',
    response: RuleDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toRuleDto(await this.rules.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'messaging.routing.purge', summary: 'Purge a routing rule' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.rules.purge(context, id);
  }
}
