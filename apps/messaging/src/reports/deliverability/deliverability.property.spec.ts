import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Client } from 'pg';
import { type Caller } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { SEND_STATES } from '../../vocabulary/sends/send-state.js';
import { COUNTED_COLUMNS, DIMENSIONS } from './counted.js';
import { DeliverabilityCounter, OWN_ROWS_OF_A_DAY } from './deliverability-counter.js';
import { DeliverabilityRecount } from './deliverability-recount.js';
import { held, recounted, type Counts } from './deliverability.fixture.js';
import type { DeliverabilityDto } from './deliverability.dto.js';

const PATH = '/v1/messaging/deliverability';
const RANGE = 'from=2026-03-01&to=2026-03-04';
const CONNECTIONS = 4;

let world: MessagingWorld;
beforeAll(async () => {
  // Nothing is added but by the tests, so that every mixture of added and noted is seen.
  world = await messagingWorld({ consume: false, env: { PROCESS_ROLE: 'api' } });
});
afterAll(() => world.close());

const add = (): Promise<boolean> => world.app.app.get(DeliverabilityCounter, { strict: false }).runAll();

/** Connections as the service has them, bound by row level security. */
async function connected<T>(work: (clients: readonly Client[]) => Promise<T>): Promise<T> {
  const clients = Array.from(
    { length: CONNECTIONS },
    () => new Client({ connectionString: world.database.url }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  try {
    return await work(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** One step of a history: which send, what becomes of it, and whether its transaction is undone. */
interface Step {
  readonly send: number;
  readonly state: (typeof SEND_STATES)[number];
  readonly domain: number;
  readonly also: (typeof SEND_STATES)[number] | null;
  readonly kind: 'move' | 'report' | 'erase' | 'add' | 'undone';
}

const stepOf = fc.record<Step>({
  send: fc.nat({ max: 11 }),
  state: fc.constantFrom(...SEND_STATES),
  domain: fc.nat({ max: 2 }),
  also: fc.option(fc.constantFrom(...SEND_STATES)),
  kind: fc.constantFrom('move', 'move', 'move', 'report', 'erase', 'add', 'undone'),
});

/** The same twelve sends for all connections; two are of a campaign, one is identity's. */
async function sends(client: Client, organizationId: string, campaignId: string): Promise<string[]> {
  const ids = Array.from({ length: 12 }, () => randomUUID());
  await client.query('BEGIN');
  await client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
  await client.query(
    `INSERT INTO sends (organization_id, id, channel, state, category, recipient, address, source, source_id, lane,
       created_at, updated_at)
     SELECT $1, id, CASE WHEN place % 3 = 0 THEN 'sms' ELSE 'email' END, 'accepted', 'transactional', '{}',
            CASE WHEN place % 4 <> 0 THEN 'a@d' || place % 2 || '.example' END,
            CASE place WHEN 1 THEN 'campaign' WHEN 2 THEN 'campaign' WHEN 3 THEN 'identity' ELSE 'api' END,
            CASE WHEN place < 3 THEN $3::uuid END, 0,
            timestamptz '2026-03-01 22:30:00Z' + place * interval '41 minutes', now()
       FROM unnest($2::uuid[]) WITH ORDINALITY AS one (id, place)`,
    [organizationId, ids, campaignId],
  );
  await client.query(
    `INSERT INTO send_history (organization_id, send_id, state, attempt, occurred_at)
     SELECT $1, id, 'accepted', 0, now() FROM unnest($2::uuid[]) AS id`,
    [organizationId, ids],
  );
  await client.query('COMMIT');
  return ids;
}

const NOTE = `
  INSERT INTO send_history (organization_id, send_id, state, attempt, occurred_at)
  SELECT $1, $2, state, 0, now() FROM unnest($3::text[]) AS state`;

async function take(client: Client, organizationId: string, id: string, step: Step): Promise<void> {
  if (step.kind === 'add') {
    await add();
    return;
  }
  await client.query('BEGIN');
  await client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
  if (step.kind === 'erase') {
    await client.query('UPDATE sends SET address = NULL WHERE organization_id = $1 AND id = $2', [
      organizationId,
      id,
    ]);
  } else if (step.kind === 'report') {
    // Reported and passed over, as `delivered` is after `opened`.
    await client.query(
      'UPDATE sends SET reached = reached | send_state_bit($3) WHERE organization_id = $1 AND id = $2',
      [organizationId, id, step.state],
    );
    await client.query(NOTE, [organizationId, id, [step.state]]);
  } else {
    await client.query(
      `UPDATE sends SET state = $3, reached = reached | coalesce(send_state_bit($4), 0), sender_domain = 's' || $5 || '.example',
              address = CASE WHEN channel = 'email' THEN 'b@d' || $5 || '.example' END
        WHERE organization_id = $1 AND id = $2`,
      [organizationId, id, step.state, step.also, String(step.domain)],
    );
    await client.query(NOTE, [organizationId, id, step.also ? [step.also, step.state] : [step.state]]);
  }
  await client.query(step.kind === 'undone' ? 'ROLLBACK' : 'COMMIT');
}

async function expectExact(organizationId: string, api: Caller): Promise<void> {
  for (const granularity of ['hour', 'day'] as const) {
    for (const dimension of DIMENSIONS) {
      const { status, body } = await api.get<DeliverabilityDto>(
        `${PATH}?${RANGE}&granularity=${granularity}&group_by=${dimension}`,
      );
      expect(status).toBe(200);
      const shown = new Map(
        body.data.map(({ period_start: period, group, sends: all, handed_over, received, counts }) => [
          `${period} ${group ?? ''}`,
          { sends: all, handed_over, received, ...counts },
        ]),
      );
      expect(shown).toEqual(await recounted(world.database, organizationId, dimension, granularity));
    }
  }
}

describe('counts of deliverability', () => {
  it('are those of a recount for any histories from several connections, added or not, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 60 }), async (steps) => {
        const { id, api } = world.organization();
        await connected(async (clients) => {
          const [first] = clients;
          if (!first) return;
          const ids = await sends(first, id, randomUUID());
          await Promise.all(
            clients.map(async (client, place) => {
              for (const [index, step] of steps.entries())
                if (index % CONNECTIONS === place) await take(client, id, ids[step.send] ?? '', step);
            }),
          );
        });
        await expectExact(id, api);
        await add();
        expect(await held(world.database, id)).toEqual({ changes: 0, negative: 0 });
        await expectExact(id, api);
        const [again] = await world.app.app
          .get(DeliverabilityRecount, { strict: false })
          .run({ organization: id, from: '2026-03-01', to: '2026-03-04' });
        expect(again).toEqual({ organization_id: id, counts: 0 });
      }),
      { numRuns: 12 },
    );
  }, 300_000);

  it('name a hundred domains of a day and count the rest together, before and after a recount', async () => {
    const { id, api } = world.organization();
    const domains = OWN_ROWS_OF_A_DAY + 40;
    const insert = (of: string) =>
      world.database.query(
        `INSERT INTO sends (organization_id, id, channel, state, category, recipient, address, source, lane, created_at, updated_at)
         SELECT $1, gen_random_uuid(), 'email', 'accepted', 'transactional', '{}', 'a@d' || n || '.example', 'api', 0,
                '2026-03-02 10:00Z', now() FROM ${of}`,
        [id],
      );
    await insert(`generate_series(1, ${String(domains)}) AS n`);
    await add();
    // One of those without a row of its own becomes the largest.
    const [other] = await world.database.query<{ domain: string }>(
      `SELECT DISTINCT recipient_domain AS domain FROM sends WHERE organization_id = $1 AND recipient_domain NOT IN
         (SELECT value FROM deliverability_counts WHERE organization_id = $1 AND dimension = 'recipient_domain')`,
      [id],
    );
    const n = /\d+/.exec(other?.domain ?? '')?.[0] ?? '0';
    await insert(`(SELECT ${n} AS n FROM generate_series(1, 5)) AS many`);
    await world.database.query(
      `UPDATE sends SET state = 'sent' WHERE organization_id = $1 AND recipient_domain = $2`,
      [id, other?.domain],
    );
    await add();
    const read = async () =>
      (await api.get<DeliverabilityDto>(`${PATH}?${RANGE}&granularity=total&group_by=recipient_domain`)).body;
    const before = await read();
    expect(before.data).toHaveLength(51);
    expect(before.data.at(-1)).toMatchObject({ group: '*', sends: domains - 50 + 5, counts: { sent: 6 } });
    expect(before.totals).toMatchObject({ sends: domains + 5, counts: { sent: 6 } });
    const rows = await world.database.query(
      `SELECT 1 FROM deliverability_counts WHERE organization_id = $1 AND dimension = 'recipient_domain' AND granularity = 'day'`,
      [id],
    );
    expect(rows).toHaveLength(OWN_ROWS_OF_A_DAY + 1);
    const range = { organization: id, from: '2026-03-01', to: '2026-03-04' };
    const recount = world.app.app.get(DeliverabilityRecount, { strict: false });
    const [first] = await recount.run(range);
    expect(first?.counts).toBeGreaterThan(0);
    const after = await read();
    expect(after.data[0]).toMatchObject({ group: other?.domain, sends: 6, counts: { sent: 6 } });
    expect(after.totals).toEqual(before.totals);
    expect((await recount.run(range))[0]?.counts).toBe(0);
  });

  it('are mended by a recount, and hold sends of before there were any', async () => {
    const { id, api } = world.organization();
    await connected(async ([client]) => {
      if (!client) return;
      const ids = await sends(client, id, randomUUID());
      for (const send of ids)
        await take(client, id, send, { send: 0, state: 'sent', domain: 0, also: 'gated', kind: 'move' });
    });
    await add();
    await world.database.query(
      `UPDATE deliverability_counts SET sent = sent + 3 WHERE organization_id = $1 AND dimension = 'channel'`,
      [id],
    );
    // As sends that the release before has left: not counted.
    await world.database.query('SET session_replication_role = replica');
    await world.database.query('UPDATE sends SET reached = 0 WHERE organization_id = $1', [id]);
    await world.database.query('SET session_replication_role = DEFAULT');
    await world.database.query('DELETE FROM deliverability_counts WHERE organization_id = $1', [id]);
    const [one] = await world.database.query<{ id: string }>(
      `SELECT id FROM sends WHERE organization_id = $1 AND source = 'api' LIMIT 1`,
      [id],
    );
    // One takes its next step before the recount comes to it.
    await world.database.query(`UPDATE sends SET state = 'delivered' WHERE id = $1`, [one?.id]);
    await world.database.query(
      `INSERT INTO send_history (organization_id, send_id, state, attempt, occurred_at) VALUES ($1, $2, 'delivered', 0, now())`,
      [id, one?.id],
    );
    const { body } = await api.get<DeliverabilityDto>(`${PATH}?${RANGE}&granularity=total`);
    expect(body.totals).toMatchObject({ sends: 1, counts: { accepted: 1, gated: 1, sent: 1, delivered: 1 } });
    const recount = world.app.app.get(DeliverabilityRecount, { strict: false });
    await recount.run({ organization: id, from: '2026-03-01', to: '2026-03-04' });
    await expectExact(id, api);
  });
});

it('knows every count as a column of the database', async () => {
  const rows = await world.database.query<{ column: keyof Counts }>(
    `SELECT column_name AS column FROM information_schema.columns WHERE table_name = 'deliverability_counts'`,
  );
  expect(rows.map(({ column }) => column)).toEqual(expect.arrayContaining(COUNTED_COLUMNS));
});
