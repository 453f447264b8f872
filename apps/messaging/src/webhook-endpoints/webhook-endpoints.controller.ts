import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  Endpoint,
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
import { WebhookTryDto } from './deliveries/webhook-delivery.dto.js';
import { EndpointTest } from './endpoint-test.service.js';
import {
  CreateWebhookEndpointDto,
  UpdateWebhookEndpointDto,
  WebhookEndpointDto,
  WebhookEndpointWithSecretDto,
  WEBHOOK_ENDPOINTS_LIST,
  toWebhookEndpointDto,
} from './webhook-endpoint.dto.js';
import { WebhookEndpointsService, type ShownEndpoint } from './webhook-endpoints.service.js';

@Controller('v1/messaging/webhook-endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly tests: EndpointTest,
  ) {}

  @CreateEndpoint({
    permission: 'messaging.webhooks.create',
    summary: 'Create a webhook endpoint',
    description:
      'Events are POSTed to it, signed by Standard Webhooks. The secret is shown in this answer alone. It takes the ' +
      'permissions that read what the events tell; what their maker cannot read any more is not delivered.',
    response: WebhookEndpointWithSecretDto,
    secretFields: ['secret'],
    problems: ['privilege_escalation', 'destination_not_allowed', 'duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateWebhookEndpointDto): Promise<Answer> {
    return Answer.newResource(
      toBody(await this.endpoints.create(context, body)),
      '/v1/messaging/webhook-endpoints',
    );
  }

  @ListEndpoint({
    permission: 'messaging.webhooks.read',
    summary: 'List webhook endpoints',
    response: WebhookEndpointDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(WEBHOOK_ENDPOINTS_LIST) query: ListQuery,
  ): Promise<Page<WebhookEndpointDto>> {
    return mapPage(await this.endpoints.list(context, query), toBody);
  }

  @GetEndpoint({
    permission: 'messaging.webhooks.read',
    summary: 'Read a webhook endpoint',
    description: 'With its newest 100 deliveries.',
    response: WebhookEndpointDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toBody(await this.endpoints.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'messaging.webhooks.update',
    summary: 'Change a webhook endpoint',
    description:
      'With `rotate_secret` the answer shows a new secret; the one before signs as well for 24 h. Other events or ' +
      'another URL, and `adopt`, take the permissions that read what the events tell. `replay_since` tells again what failed or was ' +
      'missed since then.',
    response: WebhookEndpointWithSecretDto,
    problems: ['privilege_escalation', 'destination_not_allowed', 'duplicate_value', 'invalid_state'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateWebhookEndpointDto,
  ): Promise<Answer> {
    return Answer.resource(toBody(await this.endpoints.update(context, id, body)));
  }

  @SoftDeleteEndpoint({ permission: 'messaging.webhooks.delete', summary: 'Soft-delete a webhook endpoint' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.endpoints.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'messaging.webhooks.delete',
    summary: 'Restore a webhook endpoint',
    response: WebhookEndpointDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toBody(await this.endpoints.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'messaging.webhooks.purge', summary: 'Purge a webhook endpoint' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.endpoints.purge(context, id);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/test',
    permission: 'messaging.webhooks.update',
    summary: 'Try a webhook endpoint out',
    description:
      'Tells it a `ping` now, signed as everything is, and answers how that went, within 15 s. A disabled endpoint is ' +
      'tried, too; it counts neither as a failure of it nor as a success. Ten a minute of an organization.',
    success: 200,
    idempotency: 'none',
    response: WebhookTryDto,
    problems: ['not_found', 'resource_deleted', 'rate_limited'],
  })
  test(@Context() context: RequestContext, @Id() id: string): Promise<WebhookTryDto> {
    return this.tests.ping(context, id);
  }
}

function toBody({ row, deliveries, secret }: ShownEndpoint): WebhookEndpointWithSecretDto {
  return { ...toWebhookEndpointDto(row, deliveries), ...(secret === undefined ? {} : { secret }) };
}
