import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ListDefinition } from '@customer-platform/http';

/** Something in an event that could not be used. */
class EventWarningDto {
  @ApiProperty({ description: 'JSON pointer into the event as it was sent.', example: '/traits/email' })
  pointer: string;

  @ApiProperty({ example: 'invalid_format' })
  code: string;
}

/** A stored event. */
export class EventDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ enum: ['track', 'identify'] })
  type: 'track' | 'identify';

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the behavioral event; null for an identify.',
    example: 'purchase_completed',
  })
  event: string | null;

  @ApiProperty({ example: 'customer-1' })
  external_id: string;

  @ApiProperty({ format: 'uuid' })
  contact_id: string;

  @ApiProperty({ example: 'invoice-1001' })
  idempotency_key: string;

  @ApiProperty({ format: 'date-time' })
  occurred_at: string;

  @ApiProperty({ format: 'date-time', description: 'When it was accepted.' })
  received_at: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Of a track.',
    example: { amount: 12990, currency: 'CLP', invoice_id: 'B-1001' },
  })
  properties?: Record<string, unknown>;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Of an identify.',
    example: { email: 'ana@example.com' },
  })
  traits?: Record<string, unknown>;

  @ApiProperty({ format: 'uuid', description: 'Chains everything the event led to: its own id.' })
  correlation_id: string;

  @ApiProperty({ example: 'api' })
  source: string;

  @ApiProperty({ type: [EventWarningDto] })
  warnings: EventWarningDto[];

  @ApiProperty({ format: 'date-time', description: 'When it was stored.' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;
}

/** What retention has removed. */
export class RetentionGapDto {
  @ApiProperty({ enum: ['retention'] })
  reason: 'retention';

  @ApiProperty({
    format: 'date-time',
    description:
      'Nothing that happened after it was removed; of what happened at it or before it some is gone.',
  })
  until: string;
}

/** Where a page of events ends. */
class EventPageInfoDto {
  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: String, nullable: true })
  next_cursor: string | null;
}

/** A page of events, and what it cannot show. */
export class EventPageDto {
  @ApiProperty({ type: [EventDto] })
  data: EventDto[];

  @ApiProperty({ type: EventPageInfoDto })
  page: EventPageInfoDto;

  @ApiProperty({
    type: RetentionGapDto,
    nullable: true,
    description:
      'Events that were asked for and may have been removed, their time being over; null: of what was asked for nothing was removed.',
  })
  gap: RetentionGapDto | null;
}

/** A row of the table of events. */
export interface EventRow {
  id: string;
  type: 'track' | 'identify';
  event: string | null;
  external_id: string;
  contact_id: string;
  idempotency_key: string;
  occurred_at: Date;
  received_at: Date;
  payload: Record<string, unknown>;
  warnings: EventWarningDto[] | null;
  source: string;
  created_at: Date;
}

/** The event as the API shows it. */
export function toEventDto(row: EventRow): EventDto {
  const { payload, warnings, occurred_at, received_at, created_at, ...rest } = row;
  const createdAt = created_at.toISOString();
  return {
    ...rest,
    occurred_at: occurred_at.toISOString(),
    received_at: received_at.toISOString(),
    ...(row.type === 'track' ? { properties: payload } : { traits: payload }),
    correlation_id: row.id,
    warnings: warnings ?? [],
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** What `GET /v1/core/events` takes (core.md §13): a timeline source. An event's correlation id is its own id. */
export const EVENT_LIST: ListDefinition = {
  resource: 'core.events',
  filters: {
    contact_id: { type: 'uuid', column: 'contact_id', ops: ['eq', 'ne', 'in'] },
    external_id: { type: 'string', column: 'external_id' },
    event: { type: 'string', column: 'event' },
    type: { type: 'enum', column: 'type', values: ['track', 'identify'] },
    occurred_at: { type: 'time', column: 'occurred_at' },
    received_at: { type: 'time', column: 'received_at' },
    correlation_id: { type: 'uuid', column: 'id' },
    idempotency_key: { type: 'string', column: 'idempotency_key' },
  },
  sorts: {
    occurred_at: { type: 'time', column: 'occurred_at' },
    received_at: { type: 'time', column: 'received_at' },
  },
  defaultSort: '-occurred_at',
  timelineSource: { occurredAt: 'occurred_at' },
};
