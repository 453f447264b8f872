import { ApiProperty } from '@nestjs/swagger';
import type { FilterSpec, ListDefinition } from '@customer-platform/http';

/** What a transaction did to one lot. */
export class LineDto {
  @ApiProperty({ format: 'uuid', description: 'The credit that opened the lot.' }) lot_id: string;
  @ApiProperty({ type: 'integer' }) points: number;
}

/** Who made a transaction. */
class TransactionActorDto {
  @ApiProperty({ example: 'rule' }) type: string;
  @ApiProperty({ example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f' }) id: string;
}

/** A row of the ledger (loyalty.md §3). After an erasure what could tell whose it was is null. */
export class TransactionDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) contact_id: string | null;
  @ApiProperty({ enum: ['earn', 'adjust', 'spend', 'expire', 'reverse'] }) kind: string;
  @ApiProperty({ type: 'integer' }) points: number;
  @ApiProperty({ type: [LineDto], description: 'The first 100, by lot.' }) lines: LineDto[];
  @ApiProperty({ type: 'integer', description: 'How many there are: `…/{id}/lines` lists all.' })
  line_count: number;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) rule_id: string | null;
  @ApiProperty({ nullable: true, type: 'integer' }) rule_version: number | null;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) event_id: string | null;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) reverses_id: string | null;
  @ApiProperty({ nullable: true, type: 'string' }) reason: string | null;
  @ApiProperty({ nullable: true, type: 'string' }) reference: string | null;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) expires_at: string | null;
  @ApiProperty({ type: TransactionActorDto }) actor: TransactionActorDto;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) occurred_at: string | null;
  @ApiProperty({ format: 'uuid', nullable: true, type: 'string' }) correlation_id: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) tombstoned_at: string | null;
}

/** A lot that will end. */
export class ExpiringLotDto {
  @ApiProperty({ format: 'uuid' }) lot_id: string;
  @ApiProperty({ type: 'integer' }) points: number;
  @ApiProperty({ format: 'date-time' }) expires_at: string;
}

/** A contact's points (loyalty.md §4). */
export class BalanceDto {
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ type: 'integer', description: 'Sum of all lines.' }) points: number;
  @ApiProperty({ type: 'integer', description: 'Less lots whose end has come.' }) available: number;
  @ApiProperty({ type: [ExpiringLotDto], description: 'The next 100 lots to end.' })
  expiring: ExpiringLotDto[];
  @ApiProperty({ format: 'date-time' }) as_of: string;
}

/** The kinds of rows. */
export const KINDS = ['earn', 'adjust', 'spend', 'expire', 'reverse'] as const;
/** One of them. */
export type Kind = (typeof KINDS)[number];

const id = (column: string): FilterSpec => ({ type: 'uuid', column, ops: ['eq', 'in'] });

/** `GET /v1/loyalty/transactions` (loyalty.md §3), a timeline source. */
export const TRANSACTIONS_LIST: ListDefinition = {
  resource: 'loyalty.transactions',
  filters: {
    contact_id: id('contact_id'),
    kind: { type: 'enum', column: 'kind', values: KINDS, ops: ['eq', 'in'] },
    rule_id: id('rule_id'),
    event_id: id('event_id'),
    correlation_id: id('correlation_id'),
    reverses_id: id('reverses_id'),
    reference: { type: 'string', column: 'reference' },
    occurred_at: { type: 'time', column: 'occurred_at', ops: ['gt', 'gte', 'lt', 'lte'] },
    created_at: { type: 'time', column: 'created_at', ops: ['gt', 'gte', 'lt', 'lte'] },
    tombstoned: { type: 'boolean', column: '(tombstoned_at IS NOT NULL)', ops: ['eq'] },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    // Of one contact only, whose rows all have it.
    occurred_at: { type: 'time', column: 'occurred_at' },
  },
  defaultSort: '-created_at',
  timelineSource: { occurredAt: 'occurred_at' },
};

/** `GET /v1/loyalty/transactions/{id}/lines` (loyalty.md §3). */
export const LINES_LIST: ListDefinition = {
  resource: 'loyalty.lines',
  filters: {},
  sorts: { lot_id: { type: 'uuid', column: 'lot_id', only: 'asc' } },
  defaultSort: 'lot_id',
  tieBreaker: { field: 'lot_id', column: 'lot_id', type: 'uuid' },
};

/** A line as it is read. */
export interface LineRow {
  lot_id: string;
  points: string;
}

/** A line with what it is of, and how many lines that has. */
export interface LineOfRow extends LineRow {
  transaction_id: string;
  count: number;
}

/** A line as the API answers it. */
export function toLineDto({ lot_id, points }: LineRow): LineDto {
  return { lot_id, points: Number(points) };
}

/** A transaction as it is read, with what its links and subject still tell. */
export interface TransactionRow {
  id: string;
  contact_id: string | null;
  kind: string;
  points: string;
  rule_id: string | null;
  rule_version: number | null;
  event_id: string | null;
  reverses_id: string | null;
  reason: string | null;
  reference: string | null;
  expires_at: Date | null;
  actor_type: string;
  actor_id: string;
  occurred_at: Date | null;
  correlation_id: string | null;
  created_at: Date;
  tombstoned_at: Date | null;
}

/** A transaction as the API answers it. */
export function toTransactionDto(row: TransactionRow, lines: LineDto[], lineCount: number): TransactionDto {
  return {
    id: row.id,
    contact_id: row.contact_id,
    kind: row.kind,
    points: Number(row.points),
    lines,
    line_count: lineCount,
    rule_id: row.rule_id,
    rule_version: row.rule_version,
    event_id: row.event_id,
    reverses_id: row.reverses_id,
    reason: row.reason,
    reference: row.reference,
    expires_at: row.expires_at?.toISOString() ?? null,
    actor: { type: row.actor_type, id: row.actor_id },
    occurred_at: row.occurred_at?.toISOString() ?? null,
    correlation_id: row.correlation_id,
    created_at: row.created_at.toISOString(),
    tombstoned_at: row.tombstoned_at?.toISOString() ?? null,
  };
}
