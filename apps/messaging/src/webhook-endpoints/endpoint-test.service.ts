import { Injectable } from '@nestjs/common';
import { Clock, newId } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { CallBounds, MinuteCalls } from '../background/call-bounds/minute-calls.js';
import { EndpointTry, failureOf, statusOf } from './deliveries/endpoint-try.js';
import type { WebhookTryDto } from './deliveries/webhook-delivery.dto.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** A try may take 15 s: an organization that tests one that hangs holds a few of them. */
const BOUNDS: CallBounds = {
  table: 'webhook_test_calls',
  inAMinute: { ofTenant: 30, ofOrganization: 10 },
  atOnce: { inAll: 20, ofTenant: 8, ofOrganization: 5 },
  detail: 'Too many endpoints are being tested',
};

/** Tries an endpoint out: a `ping`, told at once and once, to it and to nobody else. */
@Injectable()
export class EndpointTest {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly tries: EndpointTry,
    private readonly calls: MinuteCalls,
    private readonly clock: Clock,
  ) {}

  /**
   * How it went; an endpoint that is disabled is tried, too, so that it can be mended first. It counts neither as a
   * failure of the endpoint nor as a success, and is in no list.
   * @throws Problem `not_found`, `resource_deleted`, `rate_limited`
   */
  async ping(context: RequestContext, endpointId: string): Promise<WebhookTryDto> {
    const { row } = await this.endpoints.get(context, endpointId);
    if (row.deletedAt) throw new Problem('resource_deleted');
    const message = {
      id: newId(),
      body: JSON.stringify({ type: 'ping', timestamp: this.clock.now().toISOString(), data: {} }),
      correlationId: context.correlationId,
    };
    const { at, answer, ms } = await this.calls.hold(context, BOUNDS, () => this.tries.post(row, message));
    return { at: at.toISOString(), status: statusOf(answer), error: failureOf(answer), ms };
  }
}
