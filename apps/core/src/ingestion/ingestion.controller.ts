import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
import { ApiBody, type ApiBodyOptions } from '@nestjs/swagger';
import { Answer, Endpoint, type EndpointOptions } from '@customer-platform/http';
import {
  BATCH_LIMIT,
  IDENTIFY_ITEM_SCHEMA,
  IDENTIFY_SCHEMA,
  TRACK_ITEM_SCHEMA,
  TRACK_SCHEMA,
} from '../vocabulary/events/event-schemas.js';
import { AcceptedEventDto, BatchAnswerDto } from './ingestion.dto.js';
import { INGESTION_RULES, IngestionRequests, type IngestionRoute } from './ingestion-request.js';

const schema = (of: object, example: object): ApiBodyOptions => ({ schema: { ...of, example } });

const TRACK_EXAMPLE = {
  event: 'purchase_completed',
  external_id: 'customer-1',
  idempotency_key: 'invoice-1001',
  occurred_at: '2026-11-21T09:30:00-03:00',
  properties: { amount: 12990, currency: 'CLP', invoice_id: 'B-1001' },
};
const IDENTIFY_EXAMPLE = {
  external_id: 'customer-1',
  idempotency_key: 'profile-7',
  occurred_at: '2026-11-21T09:30:00-03:00',
  traits: { email: 'ana@example.com', first_name: 'Ana' },
};

function ingestion(
  route: IngestionRoute,
  summary: string,
  response: EndpointOptions['response'],
): MethodDecorator {
  const { permission, bodyLimit } = INGESTION_RULES[route];
  return Endpoint({
    method: 'POST',
    path: route,
    permission,
    summary,
    response,
    apiClass: 'runtime',
    latencyClass: 'ingestion',
    success: 202,
    body: 'stream',
    bodyLimit,
    gzip: true,
    crossOrigin: true,
    problems: [
      ...(['placeholder_identifier', 'occurred_at_in_future', 'rate_limited', 'queue_unavailable'] as const),
      ...(route === 'identify' ? [] : (['schema_violation'] as const)),
    ],
  });
}

/**
 * The ingestion routes as the platform knows them: permission, classes, problems, OpenAPI. `HotRoute` answers them
 * before Express, by the same `IngestionRequests`.
 */
@Controller('v1/core')
export class IngestionController {
  constructor(private readonly requests: IngestionRequests) {}

  @ingestion('track', 'Take one behavioral event', AcceptedEventDto)
  @ApiBody(schema(TRACK_SCHEMA, TRACK_EXAMPLE))
  track(@Req() request: IncomingMessage): Promise<Answer> {
    return this.serve('track', request);
  }

  @ingestion('identify', 'Take what is known of a contact', AcceptedEventDto)
  @ApiBody(schema(IDENTIFY_SCHEMA, IDENTIFY_EXAMPLE))
  identify(@Req() request: IncomingMessage): Promise<Answer> {
    return this.serve('identify', request);
  }

  @ingestion('batch', 'Take several events at once, each judged by itself', BatchAnswerDto)
  @ApiBody(
    schema(
      {
        type: 'object',
        required: ['events'],
        additionalProperties: false,
        properties: {
          events: {
            type: 'array',
            minItems: 1,
            maxItems: BATCH_LIMIT,
            items: { oneOf: [TRACK_ITEM_SCHEMA, IDENTIFY_ITEM_SCHEMA] },
          },
        },
      },
      { events: [TRACK_EXAMPLE, { type: 'identify', ...IDENTIFY_EXAMPLE }] },
    ),
  )
  batch(@Req() request: IncomingMessage): Promise<Answer> {
    return this.serve('batch', request);
  }

  private async serve(route: IngestionRoute, request: IncomingMessage): Promise<Answer> {
    const { text, headers } = await this.requests.serve(route, request);
    return new Answer(JSON.parse(text), headers);
  }
}
