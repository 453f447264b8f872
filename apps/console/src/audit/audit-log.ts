import type { DataOf, ItemOf } from '@customer-platform/client';
import type { AuditFilters } from './search-params.ts';

export type AuditRow = ItemOf<'/v1/core/audit-log'>;
export type Chain = DataOf<'get', '/v1/core/audit-log'>['chain'];

/** The filters in the query's spelling. */
export function auditQuery({ from, to, ...filters }: AuditFilters) {
  return { ...filters, 'occurred_at[gte]': from, 'occurred_at[lt]': to };
}

export type Format = 'jsonl' | 'csv';

const COLUMNS = [
  'seq',
  'occurred_at',
  'actor_type',
  'actor_id',
  'impersonator_id',
  'action',
  'module',
  'resource_type',
  'resource_id',
  'outcome',
  'changed_fields',
  'reason',
  'correlation_id',
  'ip',
  'user_agent',
  'prev_hash',
  'hash',
] as const;

/** What stands above the rows of a file. */
export function headOf(format: Format): string {
  return format === 'csv' ? `${COLUMNS.join(',')}\r\n` : '';
}

/** One row of a file, with its end. JSON lines are what the API answers, so that the chain can be proved from them. */
export function lineOf(row: AuditRow, format: Format): string {
  if (format === 'jsonl') return `${JSON.stringify(row)}\n`;
  const cells: Record<(typeof COLUMNS)[number], string> = {
    seq: String(row.seq),
    occurred_at: row.occurred_at,
    actor_type: row.actor.type,
    actor_id: row.actor.id,
    impersonator_id: row.actor.impersonator_id ?? '',
    action: row.action,
    module: row.module,
    resource_type: row.resource.type,
    resource_id: row.resource.id,
    outcome: row.outcome,
    changed_fields: row.changed_fields.join(' '),
    reason: row.reason ?? '',
    correlation_id: row.correlation_id,
    ip: row.ip ?? '',
    user_agent: row.user_agent ?? '',
    prev_hash: row.prev_hash,
    hash: row.hash,
  };
  return `${COLUMNS.map((column) => cellOf(cells[column])).join(',')}\r\n`;
}

/**
 * A value by RFC 4180. What a spreadsheet would work out as a formula is a text there, for a reason is written by
 * anybody: also after what a spreadsheet of another country takes for the end of a cell.
 */
function cellOf(value: string): string {
  const told = value.replace(/(^|[;,\t\r\n])(?=[^\S\t\r\n]*(?:"[^\S\t\r\n]*)*[=+\-@＝＋－＠])/gu, "$1'");
  const text = /^[\t\r\n]/.test(told) ? `'${told}` : told;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
