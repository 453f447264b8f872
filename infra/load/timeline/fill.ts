import { onConnection } from '@customer-platform/kit/databases.ts';

/** Items of the contact with a long history, by what they are: 100,000 over three modules. */
const ITEMS = { events: 60_000, consents: 2_000, transactions: 20_000, sends: 18_000 } as const;

/** All of them together. */
export const ITEMS_TOGETHER = Object.values(ITEMS).reduce((sum, count) => sum + count, 0);

/** How long back they reach, in seconds: 400 days. */
const SPAN_S = 400 * 86_400;
/** The instant before which all lie; the same in every run, so that what is there is known again. */
const END = '2026-01-01T00:00:00Z';

/** Rows of a part, numbered from 1, by `$1` organization and `$2` contact. */
interface Part {
  module: 'core' | 'loyalty' | 'messaging';
  name: keyof typeof ITEMS;
  /** How many of them there are. */
  count: string;
  /** What writes them, in one transaction. */
  insert: readonly string[];
  tables: string;
}

/** An id that is the same in every run; two kinds of rows never share one. */
const id = (kind: string): string => `md5('${kind} ' || $1::text || ' ' || $2::text || ' ' || n)::uuid`;
/** Spread over the whole span: items of all kinds lie among one another. */
const instant = (kind: keyof typeof ITEMS): string =>
  `date_trunc('milliseconds', '${END}'::timestamptz - interval '1 second' * ${SPAN_S / ITEMS[kind]} * n)`;
const rows = (kind: keyof typeof ITEMS): string => `generate_series(1, ${ITEMS[kind]}) AS n`;

const EVENTS: Part = {
  module: 'core',
  name: 'events',
  count: `SELECT count(*)::int AS count FROM events WHERE organization_id = $1 AND contact_id = $2 AND source = 'load'`,
  insert: [
    `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
       received_at, payload, source, fingerprint)
     SELECT $1::uuid, ${id('event')}, 'track', 'page_viewed', 'load-timeline', $2::uuid, 'load-timeline-' || n,
            ${instant('events')}, ${instant('events')}, '{"properties": {"path": "/checkout"}}', 'load', ${id('event')}
       FROM ${rows('events')} ON CONFLICT DO NOTHING`,
  ],
  tables: 'events',
};

const CONSENTS: Part = {
  module: 'core',
  name: 'consents',
  count: `SELECT count(*)::int AS count FROM consent_events
           WHERE organization_id = $1 AND contact_id = $2 AND actor_id = 'load'`,
  insert: [
    `INSERT INTO consent_events (organization_id, id, contact_id, purpose, channel, status, legal_basis, occurred_at,
       controller, actor_type, actor_id, correlation_id, recorded_at)
     SELECT $1::uuid, ${id('consent')}, $2::uuid, 'marketing', 'email', 'withdrawn', 'consent', ${instant('consents')},
            $1::uuid, 'system', 'load', ${id('consent')}, ${instant('consents')}
       FROM ${rows('consents')} ON CONFLICT DO NOTHING`,
  ],
  tables: 'consent_events',
};

const TRANSACTIONS: Part = {
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
    ...ledgerRows(),
  ],
  tables: 'subjects, transactions, links, lines, lot_balances, balances',
};

const SENDS: Part = {
  module: 'messaging',
  name: 'sends',
  count: `SELECT count(*)::int AS count FROM sends
           WHERE organization_id = $1 AND contact_id = $2 AND metadata ->> 'load' = 'timeline'`,
  insert: [
    `INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, source, metadata, lane,
       sent_at, created_at, updated_at)
     SELECT $1::uuid, ${id('send')}, 'email', 'sent', 'transactional', $2::uuid,
            jsonb_build_object('contact_id', $2::text), 'api', '{"load": "timeline"}', 0, ${instant('sends')},
            ${instant('sends')}, ${instant('sends')}
       FROM ${rows('sends')} ON CONFLICT DO NOTHING`,
  ],
  tables: 'sends',
};

/** Credits with the lots that they open: every sum of the ledger stays true. */
function ledgerRows(): string[] {
  const subject = `JOIN subjects s ON s.organization_id = $1 AND s.origin_contact_id = $2`;
  const at = instant('transactions');
  return [
    `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, actor_type, actor_id, created_at)
     SELECT $1::uuid, ${id('transaction')}, 'adjust', 10, s.subject_ref, 'system', 'load', ${at}
       FROM ${rows('transactions')} ${subject}`,
    `INSERT INTO links (organization_id, transaction_id, subject_ref, correlation_id, occurred_at, reason)
     SELECT $1::uuid, ${id('transaction')}, s.subject_ref, ${id('transaction')}, ${at}, 'load'
       FROM ${rows('transactions')} ${subject}`,
    `INSERT INTO lines (organization_id, transaction_id, lot_id, points, subject_ref)
     SELECT $1::uuid, ${id('transaction')}, ${id('transaction')}, 10, s.subject_ref
       FROM ${rows('transactions')} ${subject}`,
    `INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, created_at)
     SELECT $1::uuid, s.subject_ref, ${id('transaction')}, 10, ${at} FROM ${rows('transactions')} ${subject}`,
    `UPDATE balances SET points = points + 10 * ${ITEMS.transactions}
      WHERE organization_id = $1
        AND subject_ref = (SELECT subject_ref FROM subjects WHERE organization_id = $1 AND origin_contact_id = $2)`,
  ];
}

const PARTS = [EVENTS, CONSENTS, TRANSACTIONS, SENDS];

/** Whose history, and where. */
interface Filling {
  /** The address of a module's database, as a role that row level security does not bind. */
  databaseUrl: (module: string) => string;
  organizationId: string;
  contactId: string;
  say: (line: string) => void;
}

/** Writes what is missing of the contact's 100,000 items; each part in one transaction, so that it is there or not. */
export async function fillTimeline({ databaseUrl, organizationId, contactId, say }: Filling): Promise<void> {
  for (const part of PARTS) {
    await onConnection(databaseUrl(part.module), async (client) => {
      const of = [organizationId, contactId];
      const { rows: found } = await client.query<{ count: number }>(part.count, of);
      if ((found[0]?.count ?? 0) >= ITEMS[part.name]) return;
      say(`  writing ${ITEMS[part.name]} ${part.name} of one contact …`);
      await client.query('BEGIN');
      for (const statement of part.insert) await client.query(statement, of);
      await client.query('COMMIT');
      // Fresh statistics, and pages that an index alone can answer for, as an evening would bring them.
      await client.query(`VACUUM ANALYZE ${part.tables}`);
    });
  }
}
