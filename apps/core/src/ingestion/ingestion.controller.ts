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
} from './event-schemas.js';
import { AcceptedEventDto, BatchAnswerDto } from './ingestion.dto.js';
import { INGESTION_RULES, IngestionRequests, type IngestionRoute } from './ingestion-request.js';

const schema = (of: object): ApiBodyOptions => ({ schema: of });

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
    problems: ['placeholder_identifier', 'occurred_at_in_future', 'rate_limited', 'queue_unavailable'],
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
  @ApiBody(schema(TRACK_SCHEMA))
  track(@Req() request: IncomingMessage): Promise<Answer> {
    return this.serve('track', request);
  }

  @ingestion('identify', 'Take what is known of a contact', AcceptedEventDto)
  @ApiBody(schema(IDENTIFY_SCHEMA))
  identify(@Req() request: IncomingMessage): Promise<Answer> {
    return this.serve('identify', request);
  }

  @ingestion('batch', 'Take several events at once, each judged by itself', BatchAnswerDto)
  @ApiBody(
    schema({
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
    }),
  )
  batch(@Req() request: IncomingMessage): Promise<Answer> {
    return this.serve('batch', request);
  }

  private async serve(route: IngestionRoute, request: IncomingMessage): Promise<Answer> {
    const { text, headers } = await this.requests.serve(route, request);
    return new Answer(JSON.parse(text), headers);
  }
}
