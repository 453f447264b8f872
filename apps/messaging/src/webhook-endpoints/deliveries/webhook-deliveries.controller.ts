import { Controller } from '@nestjs/common';
import {
  Context,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { DeliveriesService } from './deliveries.service.js';
import { TriedDeliveryDto, DELIVERIES_LIST } from './webhook-delivery.dto.js';

@Controller('v1/messaging')
export class WebhookDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @ListEndpoint({
    permission: 'messaging.webhooks.read',
    path: 'webhook-endpoints/:id/deliveries',
    summary: 'List what was told to a webhook endpoint',
    description: 'Newest first, each with its tries; what was said is never shown.',
    response: TriedDeliveryDto,
    problems: ['not_found'],
  })
  list(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(DELIVERIES_LIST) query: ListQuery,
  ): Promise<Page<TriedDeliveryDto>> {
    return this.deliveries.list(context, id, query);
  }

  @Endpoint({
    method: 'POST',
    path: 'webhook-deliveries/:id/redeliver',
    permission: 'messaging.webhooks.update',
    summary: 'Tell a webhook endpoint an event again',
    description:
      'Under the same `webhook-id`, by the usual schedule from its beginning; what waits for its next try is tried now. ' +
      'What was said is kept for 7 days; after that, and while the endpoint is disabled: 409 `invalid_state`.',
    success: 202,
    response: TriedDeliveryDto,
    problems: ['invalid_state'],
  })
  redeliver(@Context() context: RequestContext, @Id() id: string): Promise<TriedDeliveryDto> {
    return this.deliveries.redeliver(context, id);
  }
}
