import type { LineDto, TransactionDto } from './transaction.dto.js';

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
export function toTransactionDto(row: TransactionRow, lines: LineDto[]): TransactionDto {
  return {
    id: row.id,
    contact_id: row.contact_id,
    kind: row.kind,
    points: Number(row.points),
    lines,
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
