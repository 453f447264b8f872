import type { AuditEntry } from '@customer-platform/audit';

/** A row of the audit log as it is shown, without its place among the hashes: what a hash covers (core.md §11). */
export interface AuditItem {
  id: string;
  seq: number;
  occurred_at: string;
  actor: { type: string; id: string; impersonator_id: string | null };
  action: string;
  module: string;
  resource: { type: string; id: string };
  outcome: 'success' | 'denied';
  changed_fields: string[];
  correlation_id: string;
  ip: string | null;
  user_agent: string | null;
  reason: string | null;
  created_at: string;
  updated_at: string;
}

/** A row of the table `audit_log`. */
export interface AuditRow {
  id: string;
  /** A bigint, as text. */
  seq: string;
  occurred_at: Date;
  actor_type: string;
  actor_id: string;
  impersonator_id: string | null;
  action: string;
  module: string;
  resource_type: string;
  resource_id: string;
  outcome: 'success' | 'denied';
  changed_fields: string[];
  correlation_id: string;
  ip: string | null;
  user_agent: string | null;
  reason: string | null;
  created_at: Date;
  prev_hash: Buffer;
  hash: Buffer;
}

/** The columns of {@link AuditRow}. */
export const AUDIT_COLUMNS = `id, seq, occurred_at, actor_type, actor_id, impersonator_id, action, module, resource_type,
  resource_id, outcome, changed_fields, correlation_id, ip, user_agent, reason, created_at, prev_hash, hash`;

/** An entry at its place in the log; `recordedAt` is when it got there. */
export function itemOf(entry: AuditEntry, seq: number, recordedAt: Date): AuditItem {
  const at = recordedAt.toISOString();
  return {
    id: entry.id,
    seq,
    occurred_at: entry.occurred_at,
    actor: {
      type: entry.actor.type,
      id: entry.actor.id,
      impersonator_id: entry.actor.impersonator_id,
    },
    action: entry.action,
    module: entry.module,
    resource: { type: entry.resource.type, id: entry.resource.id },
    outcome: entry.outcome,
    changed_fields: entry.changed_fields,
    correlation_id: entry.correlation_id,
    ip: entry.ip,
    user_agent: entry.user_agent,
    reason: entry.reason,
    created_at: at,
    // Rows are never changed.
    updated_at: at,
  };
}

/** A stored row as it is shown. */
export function toAuditItem(row: AuditRow): AuditItem {
  const createdAt = row.created_at.toISOString();
  return {
    id: row.id,
    seq: Number(row.seq),
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, impersonator_id: row.impersonator_id },
    action: row.action,
    module: row.module,
    resource: { type: row.resource_type, id: row.resource_id },
    outcome: row.outcome,
    changed_fields: row.changed_fields,
    correlation_id: row.correlation_id,
    ip: row.ip,
    user_agent: row.user_agent,
    reason: row.reason,
    created_at: createdAt,
    updated_at: createdAt,
  };
}
