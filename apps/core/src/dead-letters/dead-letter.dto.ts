import { ApiProperty } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import type { ListDefinition } from '@customer-platform/http';
import { STAGES, type Stage } from '../vocabulary/events/work-item.js';

/** What can be the matter with a dead letter. */
const LETTER_STATES = ['pending', 'replaying', 'replayed', 'closed'] as const;

/** An event that failed. */
export class DeadLetterDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  event_id: string;

  @ApiProperty({ enum: STAGES, description: 'Where it failed, and where a replay goes on.' })
  stage: Stage;

  @ApiProperty({ example: 'idempotency_key_conflict' })
  code: string;

  @ApiProperty({ example: 'The key was used before with another body.' })
  detail: string;

  @ApiProperty({ type: 'integer' })
  attempts: number;

  @ApiProperty({ type: String, nullable: true, description: 'The event byte by byte as it was received.' })
  payload: string | null;

  @ApiProperty({ type: String, nullable: true })
  external_id: string | null;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  contact_id: string | null;

  @ApiProperty({ format: 'uuid', description: 'The event’s own id.' })
  correlation_id: string;

  @ApiProperty({ enum: LETTER_STATES })
  state: (typeof LETTER_STATES)[number];

  @ApiProperty({ type: String, nullable: true, description: 'Why no replay can help.' })
  closed_reason: string | null;

  @ApiProperty({ format: 'date-time' })
  first_failed_at: string;

  @ApiProperty({ format: 'date-time' })
  last_failed_at: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;
}

/** What `POST /v1/core/dead-letters/replay` takes. */
export class ReplayFilterDto {
  @ApiProperty({
    type: 'object',
    minProperties: 1,
    additionalProperties: { type: 'string' },
    example: { code: 'internal_error', 'stage[in]': 'store,profile' },
    description: 'Filters of the list, named and written as in its query: at least one.',
  })
  @IsObject()
  filter: Record<string, unknown>;
}

/** How many dead letters were queued. */
export class BulkReplayDto {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    example: 412,
    description:
      'Pending letters that matched, which are queued now. Those queued or run before are not counted.',
  })
  matched: number;

  @ApiProperty({ description: 'Whether more match: the same call again takes the next ones.' })
  truncated: boolean;
}

/** A row of the table of dead letters, as far as it is shown. */
export interface DeadLetterRow {
  id: string;
  event_id: string;
  stage: Stage;
  code: string;
  detail: string;
  attempts: number;
  payload: Buffer | null;
  external_id: string | null;
  contact_id: string | null;
  state: (typeof LETTER_STATES)[number];
  closed_reason: string | null;
  first_failed_at: Date;
  last_failed_at: Date;
  created_at: Date;
  updated_at: Date;
}

/** The columns of {@link DeadLetterRow}. */
export const LETTER_COLUMNS = `id, event_id, stage, code, detail, attempts, payload, external_id, contact_id, state,
  closed_reason, first_failed_at, last_failed_at, created_at, updated_at`;

/** The dead letter as the API shows it. */
export function toDeadLetterDto(row: DeadLetterRow): DeadLetterDto {
  return {
    id: row.id,
    event_id: row.event_id,
    stage: row.stage,
    code: row.code,
    detail: row.detail,
    attempts: row.attempts,
    payload: row.payload?.toString('utf8') ?? null,
    external_id: row.external_id,
    contact_id: row.contact_id,
    correlation_id: row.event_id,
    state: row.state,
    closed_reason: row.closed_reason,
    first_failed_at: row.first_failed_at.toISOString(),
    last_failed_at: row.last_failed_at.toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** What `GET /v1/core/dead-letters` takes (core.md §13). A letter's correlation id is its event's id. */
export const DEAD_LETTER_LIST: ListDefinition = {
  resource: 'core.dead-letters',
  filters: {
    state: { type: 'enum', column: 'state', values: LETTER_STATES },
    code: { type: 'string', column: 'code' },
    stage: { type: 'enum', column: 'stage', values: STAGES },
    event_id: { type: 'uuid', column: 'event_id' },
    external_id: { type: 'string', column: 'external_id' },
    contact_id: { type: 'uuid', column: 'contact_id' },
    correlation_id: { type: 'uuid', column: 'event_id' },
  },
  sorts: { last_failed_at: { type: 'time', column: 'last_failed_at' } },
  defaultSort: '-last_failed_at',
};
