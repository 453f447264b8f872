import { type Transaction, pageOf } from '@customer-platform/database';
import type { ListFilter, ListQuery, Page } from '@customer-platform/http';

/**
 * So many rows are looked at for one page. Where filters let too few of them through, the page ends there, short or empty,
 * with a cursor from which the next goes on (ADR 353).
 */
const MOST_LOOKED_AT = 20_000;

/** What leads to its rows by an index of its own. */
const SOUGHT = ['event_id', 'correlation_id', 'reference', 'rule_id', 'reverses_id'];

const BOUNDS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

const isBound = ({ field, op }: ListFilter): boolean => field === 'created_at' && op in BOUNDS;

/** Few rows are of the erased, and these are listed by themselves. */
const isOfErased = ({ filters }: ListQuery): boolean =>
  filters.some(({ field, value }) => field === 'tombstoned' && value === true);

/** Whether the ledger has to be gone through for it, in the order of creation. */
export function isWalk({ filters }: ListQuery): boolean {
  return !filters.some(({ field }) => SOUGHT.includes(field));
}

/**
 * A page of an organization's ledger, gone through in the order of creation as far as the page goes.
 * @param select the rows that are shown, given those of `transactions`
 */
export function walkPage<Row extends object>(
  tx: Transaction,
  select: (transactions: string) => string,
  query: ListQuery,
): Promise<Page<Row>> {
  const { rows, parameters } = rowsOf(tx, query);
  const looked = select(`(${rows} LIMIT ${String(MOST_LOOKED_AT)})`);
  const end = `${rows} OFFSET ${String(MOST_LOOKED_AT - 1)} LIMIT 1`;
  return pageOf<Row>(tx, looked, query, { parameters, end });
}

/** The rows from the cursor on, within the bounds of creation. */
function rowsOf(tx: Transaction, query: ListQuery): { rows: string; parameters: unknown[] } {
  const parameters: unknown[] = [tx.organizationId];
  const place = (value: unknown, type: string): string => `$${String(parameters.push(value))}::${type}`;
  const isDescending = query.sort[0]?.direction === 'desc';
  const bounds = query.filters
    .filter(isBound)
    .map(({ op, value }) => `AND created_at ${BOUNDS[op] ?? '='} ${place(value, 'timestamptz')}`);
  const [at, id] = query.after ?? [];
  const from = at === undefined ? undefined : `(${place(at, 'timestamptz')}, ${place(id, 'uuid')})`;
  const way = isDescending ? 'DESC' : 'ASC';
  const own = (table: string, row: string): string => {
    const after = from === undefined ? '' : `AND (created_at, ${row}) ${isDescending ? '<' : '>'} ${from}`;
    return `SELECT * FROM ${table} WHERE organization_id = $1 ${bounds.join(' ')} ${after}
      ORDER BY created_at ${way}, ${row} ${way}`;
  };
  const rows = isOfErased(query)
    ? `SELECT posted.* FROM (${own('tombstone_rows', 'transaction_id')}) AS own
       CROSS JOIN LATERAL (
         SELECT * FROM transactions WHERE organization_id = $1 AND id = own.transaction_id OFFSET 0) AS posted
       ORDER BY own.created_at ${way}, own.transaction_id ${way}`
    : own('transactions', 'id');
  return { rows, parameters };
}
