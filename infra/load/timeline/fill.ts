import { onConnection } from '@customer-platform/kit/databases.ts';

/** Numbers of items that a contact is given, by what they are. */
export type ItemCounts = Readonly<Record<'events' | 'consents' | 'transactions' | 'sends', number>>;

/** A long history: 100,000 over three modules. */
export const LONG_HISTORY: ItemCounts = {
  events: 60_000,
  consents: 2_000,
  transactions: 20_000,
  sends: 18_000,
};

/** All of them together. */
export const itemsTogether = (items: ItemCounts): number =>
  Object.values(items).reduce((sum, count) => sum + count, 0);

/** How long back they reach, in seconds: 400 days. */
const SPAN_S = 400 * 86_400;
/** The instant before which all lie; the same in every run, so that what is there is known again. */
const END = '2026-01-01T00:00:00Z';

/** Rows of a part, numbered from 1, by `$1` organization and `$2` contact. */
interface Part {
  module: 'core' | 'loyalty' | 'messaging';
  name: keyof ItemCounts;
  /** How many of them there are. */
  count: string;
  /** What writes them, in one transaction. */
  insert: readonly string[];
  tables: string;
}

/** An id that is the same in every run; two kinds of rows never share one. */
const id = (kind: string): string => `md5('${kind} ' || $1::text || ' ' || $2::text || ' ' || n)::uuid`;
/** Spread over the whole span: items of all kinds lie among one another. */
const instant = (count: number): string =>
  `date_trunc('milliseconds', '${END}'::timestamptz - interval '1 second' * ${SPAN_S / count} * n)`;
const rows = (count: number): string => `generate_series(1, ${count}) AS n`;

const eventsOf = (count: number): Part => ({
  module: 'core',
  name: 'events',
  count: `SELECT count(*)::int AS count FROM events WHERE organization_id = $1 AND contact_id = $2 AND source = 'load'`,
  insert: [
    `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
       received_at, payload, source, fingerprint)
     SELECT $1::uuid, ${id('event')}, 'track', 'page_viewed', 'load-timeline', $2::uuid, 'load-timeline-' || n,
            ${instant(count)}, ${instant(count)}, '{"properties": {"path": "/checkout"}}', 'load', ${id('event')}
       FROM ${rows(count)} ON CONFLICT DO NOTHING`,
  ],
  tables: 'events',
});

const consentsOf = (count: number): Part => ({
  module: 'core',
  name: 'consents',
  count: `SELECT count(*)::int AS count FROM consent_events
           WHERE organization_id = $1 AND contact_id = $2 AND actor_id = 'load'`,
  insert: [
    `INSERT INTO consent_events (organization_id, id, contact_id, purpose, channel, status, legal_basis, occurred_at,
       controller, actor_type, actor_id, correlation_id, recorded_at)
     SELECT $1::uuid, ${id('consent')}, $2::uuid, 'marketing', 'email', 'withdrawn', 'consent', ${instant(count)},
            $1::uuid, 'system', 'load', ${id('consent')}, ${instant(count)}
       FROM ${rows(count)} ON CONFLICT DO NOTHING`,
  ],
  tables: 'consent_events',
});

const transactionsOf = (count: number): Part => ({
  module: 'loyalty',
  name: 'transactions',
  count: `SELECT count(*)::int AS count FROM transactions t JOIN subjects s USING (organization_id, subject_ref)
           WHERE t.organization_id = $1 AND s.contact_id = $2 AND t.actor_id = 'load'`,
  insert: [
    `INSERT INTO subjects (organization_id, subject_ref, contact_id, origin_contact_id)
     VALUES ($1::uuid, gen_random_uuid(), $2::uuid, $2::uuid) ON CONFLICT DO NOTHING`,
    `INSERT INTO balances (organization_id, subject_ref, points)
     SELECT organization_id, subject_ref, 0 FROM subjects WHERE organization_id = $1 AND origin_contact_id = $2
     ON CONFLICT DO NOTHING`,
    ...ledgerRows(count),
  ],
  tables: 'subjects, transactions, links, lines, lot_balances, balances',
});

const sendsOf = (count: number): Part => ({
  module: 'messaging',
  name: 'sends',
  count: `SELECT count(*)::int AS count FROM sends
           WHERE organization_id = $1 AND contact_id = $2 AND metadata ->> 'load' = 'timeline'`,
  insert: [
    `INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, source, metadata, lane,
       sent_at, created_at, updated_at)
     SELECT $1::uuid, ${id('send')}, 'email', 'sent', 'transactional', $2::uuid,
            jsonb_build_object('contact_id', $2::text), 'api', '{"load": "timeline"}', 0, ${instant(count)},
            ${instant(count)}, ${instant(count)}
       FROM ${rows(count)} ON CONFLICT DO NOTHING`,
  ],
  tables: 'sends',
});

/** Credits with the lots that they open: every sum of the ledger stays true. */
function ledgerRows(count: number): string[] {
  const subject = `JOIN subjects s ON s.organization_id = $1 AND s.origin_contact_id = $2`;
  const at = instant(count);
  return [
    `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, actor_type, actor_id, created_at)
     SELECT $1::uuid, ${id('transaction')}, 'adjust', 10, s.subject_ref, 'system', 'load', ${at}
       FROM ${rows(count)} ${subject}`,
    `INSERT INTO links (organization_id, transaction_id, subject_ref, correlation_id, occurred_at, reason)
     SELECT $1::uuid, ${id('transaction')}, s.subject_ref, ${id('transaction')}, ${at}, 'load'
       FROM ${rows(count)} ${subject}`,
    `INSERT INTO lines (organization_id, transaction_id, lot_id, points, subject_ref)
     SELECT $1::uuid, ${id('transaction')}, ${id('transaction')}, 10, s.subject_ref
       FROM ${rows(count)} ${subject}`,
    `INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, created_at)
     SELECT $1::uuid, s.subject_ref, ${id('transaction')}, 10, ${at} FROM ${rows(count)} ${subject}`,
    `UPDATE balances SET points = points + 10 * ${count}
      WHERE organization_id = $1
        AND subject_ref = (SELECT subject_ref FROM subjects WHERE organization_id = $1 AND origin_contact_id = $2)`,
  ];
}

/** The contacts whose histories these are, and where. */
interface Filling {
  /** The address of a module's database, as a role that row level security does not bind. */
  databaseUrl: (module: string) => string;
  organizationId: string;
  contactIds: readonly string[];
  /** Items that each of the contacts is to have. */
  items: ItemCounts;
  say: (line: string) => void;
}

/** Writes what is missing of the contacts' items; each part of a contact in one transaction, so that it is there or not. */
export async function fillTimelines(filling: Filling): Promise<void> {
  const { databaseUrl, organizationId, contactIds, items, say } = filling;
  const parts = [
    eventsOf(items.events),
    consentsOf(items.consents),
    transactionsOf(items.transactions),
    sendsOf(items.sends),
  ];
  for (const part of parts) {
    await onConnection(databaseUrl(part.module), async (client) => {
      let written = 0;
      for (const contactId of contactIds) {
        const of = [organizationId, contactId];
        const { rows: found } = await client.query<{ count: number }>(part.count, of);
        if ((found[0]?.count ?? 0) >= items[part.name]) continue;
        if (written === 0)
          say(`  writing ${items[part.name]} ${part.name} of each of ${contactIds.length} contacts …`);
        await client.query('BEGIN');
        for (const statement of part.insert) await client.query(statement, of);
        await client.query('COMMIT');
        written += 1;
      }
      // Fresh statistics, and pages that an index alone can answer for, as an evening would bring them.
      if (written > 0) await client.query(`VACUUM ANALYZE ${part.tables}`);
    });
  }
}
