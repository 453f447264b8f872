import type { TestDatabase } from '@customer-platform/testing';
import { SEND_STATES } from '../../vocabulary/sends/send-state.js';
import { COUNTED, COUNTED_COLUMNS, type CountedColumn, type Dimension } from './counted.js';

/** Counts of a period and a value. */
export type Counts = Record<CountedColumn, number>;

const OF: Readonly<Record<Dimension, string>> = {
  channel: 'channel',
  sender_domain: 'sender_domain',
  recipient_domain: 'recipient_domain',
  campaign: `CASE WHEN source = 'campaign' THEN source_id::text END`,
};

/** What the sends of an organization and their histories say, without triggers, bits and counts. */
export async function recounted(
  database: Pick<TestDatabase, 'query'>,
  organizationId: string,
  dimension: Dimension,
  granularity: 'hour' | 'day' = 'day',
): Promise<Map<string, Counts>> {
  const rows = await database.query<{ period: Date; value: string | null; states: string[] }>(
    `SELECT date_trunc($2, created_at, 'UTC') AS period, ${OF[dimension]} AS value,
            (SELECT array_agg(DISTINCT state) FROM send_history AS step
              WHERE step.organization_id = sends.organization_id AND step.send_id = sends.id) AS states
       FROM sends WHERE organization_id = $1 AND source <> 'identity'`,
    [organizationId, granularity],
  );
  const counts = new Map<string, Counts>();
  for (const { period, value, states } of rows) {
    const key = `${period.toISOString()} ${value ?? ''}`;
    const found = counts.get(key) ?? zero();
    counts.set(key, found);
    found.sends += 1;
    const reached = (...of: string[]): number => Number(of.some((state) => states.includes(state)));
    found.handed_over += reached(
      ...['sent', 'unknown', 'delivered', 'opened', 'clicked', 'bounced', 'complained'],
    );
    found.received += reached('delivered', 'opened', 'clicked', 'complained');
    for (const state of SEND_STATES) found[state] += reached(state);
  }
  return counts;
}

function zero(): Counts {
  return Object.fromEntries(COUNTED_COLUMNS.map((column) => [column, 0])) as Counts;
}

/** What has been added to the counts and what has not, as the rows of both tables say. */
export async function held(
  database: Pick<TestDatabase, 'query'>,
  organizationId: string,
): Promise<{ changes: number; negative: number }> {
  const negative = Object.keys(COUNTED)
    .map((column) => `${column} < 0`)
    .join(' OR ');
  const [row] = await database.query<{ changes: number; negative: number }>(
    `SELECT (SELECT count(*)::int FROM deliverability_changes WHERE organization_id = $1) AS changes,
            (SELECT count(*)::int FROM deliverability_counts WHERE organization_id = $1 AND (${negative})) AS negative`,
    [organizationId],
  );
  return row ?? { changes: 0, negative: 0 };
}
