import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { DatabaseFault, eventually, startTestApp, type Caller } from '@customer-platform/testing';
import { MessagingModule } from '../../messaging.module.js';
import {
  ALL_PERMISSIONS,
  messagingWorld,
  settled,
  template,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import { organizationChange } from '../organizations/organization-change.fixture.js';
import { OrganizationStates } from '../organizations/organization-states.js';
import { WebhookReceiver } from '../../webhook-endpoints/webhook-receiver.fixture.js';
import { BackgroundJobs, ROWS_OF_A_PIECE, type JobKind } from './background-jobs.js';

const ROUTING = '/v1/messaging/event-routing';
const ENDPOINTS = '/v1/messaging/webhook-endpoints';
const MANY = 3 * ROWS_OF_A_PIECE + 7;

let world: MessagingWorld;
let receiver: WebhookReceiver;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
  receiver = new WebhookReceiver();
  await receiver.start();
});
afterAll(async () => {
  await receiver.stop();
  await world.close();
});

interface Seeded {
  readonly organizationId: string;
  readonly api: Caller;
  readonly ruleId: string;
  readonly templateId: string;
}

async function aRule(): Promise<Seeded> {
  const { id: organizationId, api } = world.organization();
  const templateId = await template(api, {
    locales: { es: { subject: 'Hola', html: '<p>Gracias</p>' } },
  });
  const { body } = await api.post<{ id: string }>(ROUTING, {
    name: `Rule ${randomUUID()}`,
    event_type: 'core.event.recorded',
    event_name: 'invoice_paid',
    channel: 'email',
    template_id: templateId,
    recipient: { from: 'event', path: 'properties.email' },
  });
  return { organizationId, api, ruleId: body.id, templateId };
}

/** Sends of the rule as the router makes them, due in so many seconds. */
async function sends(
  { organizationId, ruleId, templateId }: Seeded,
  count: number,
  { due = 86_400, state = 'accepted' }: { due?: number; state?: string } = {},
): Promise<string> {
  const domain = `${randomUUID()}.example.com`;
  await world.database.query(
    `WITH made AS (
       INSERT INTO sends (organization_id, id, channel, state, reason, category, recipient, template_id, template_version,
         source, source_id, event_id, correlation_id, lane, due_at, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'email', $5, CASE $5 WHEN 'held' THEN 'organization_suspended' END, 'transactional',
              jsonb_build_object('address', n || '@' || $6), $3, 1, 'routing', $2, gen_random_uuid(), gen_random_uuid(), 0,
              CASE $5 WHEN 'held' THEN 'infinity' ELSE now() + make_interval(secs => $4) END, now(), now()
         FROM generate_series(1, $7::int) AS n RETURNING organization_id, id)
     INSERT INTO send_payloads (organization_id, send_id) SELECT organization_id, id FROM made`,
    [organizationId, ruleId, templateId, due, state, domain, count],
  );
  return domain;
}

async function inState(organizationId: string, state: string): Promise<number> {
  const [row] = await world.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM sends WHERE organization_id = $1 AND state = $2',
    [organizationId, state],
  );
  return row?.count ?? 0;
}

/** The most rows of a table that one transaction wrote last. */
async function largestTransaction(table: string, organizationId: string): Promise<number> {
  const [row] = await world.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1 GROUP BY xmin::text ORDER BY 1 DESC LIMIT 1`,
    [organizationId],
  );
  return row?.count ?? 0;
}

/** Rows of `sends` that were read and changed so far, as far as the server was told by its processes. */
async function worked(): Promise<{ read: number; written: number }> {
  const [row] = await world.database.query<{ read: number; written: number }>(
    `SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS read, n_tup_upd::int AS written FROM pg_stat_user_tables WHERE relname = 'sends'`,
  );
  return row ?? { read: NaN, written: NaN };
}

const jobsOf = (organizationId: string) =>
  world.database.query<{ kind: string }>('SELECT kind FROM background_jobs WHERE organization_id = $1', [
    organizationId,
  ]);

describe('disabling a rule', () => {
  it.each(['disabled', 'deleted'])('%s: calls off what waits in pieces, behind the answer', async (how) => {
    const rule = await aRule();
    await sends(rule, MANY);
    if (how === 'disabled') await rule.api.patch(`${ROUTING}/${rule.ruleId}`, { enabled: false });
    else await rule.api.delete(`${ROUTING}/${rule.ruleId}`);
    await eventually(async () => expect(await inState(rule.organizationId, 'canceled')).toBe(MANY), {
      within: 30_000,
    });
    expect(await largestTransaction('sends', rule.organizationId)).toBeLessThanOrEqual(ROWS_OF_A_PIECE);
    await eventually(async () => expect(await jobsOf(rule.organizationId)).toEqual([]), { within: 10_000 });
  });

  it('reads what waits a few times in all, however many pieces there are before and after it', async () => {
    const rule = await aRule();
    const count = 40 * ROWS_OF_A_PIECE;
    await sends(rule, count);
    // By these statistics nearly every send of the organization is one of the rule's.
    await world.database.query('ANALYZE sends');
    const before = await worked();
    await rule.api.patch(`${ROUTING}/${rule.ruleId}`, { enabled: false });
    await eventually(async () => expect(await jobsOf(rule.organizationId)).toEqual([]), { within: 60_000 });
    expect(await inState(rule.organizationId, 'canceled')).toBe(count);
    const isTold = async () =>
      expect((await worked()).written).toBeGreaterThanOrEqual(before.written + count);
    await eventually(isTold, { within: 30_000 });
    expect((await worked()).read - before.read).toBeLessThan(8 * count);
  });

  it('lets nothing leave from its answer on, while all of it is under way', async () => {
    const rule = await aRule();
    const domain = await sends(rule, 300, { due: -1 });
    const begun = () => world.mail.begun.filter(({ to }) => to.endsWith(domain)).length;
    await eventually(() => expect(begun()).toBeGreaterThan(0), { within: 20_000, every: 5 });
    expect((await rule.api.patch(`${ROUTING}/${rule.ruleId}`, { enabled: false })).status).toBe(200);
    const atAnswer = begun();
    const open = async () =>
      world.database.query(
        `SELECT 1 FROM sends WHERE organization_id = $1 AND (due_at IS NOT NULL OR state = 'dispatching')`,
        [rule.organizationId],
      );
    await eventually(async () => expect(await open()).toEqual([]), { within: 30_000 });
    expect(begun()).toBe(atAnswer);
    expect(await inState(rule.organizationId, 'canceled')).toBe(300 - atAnswer);
  });

  it('is finished by another process, and what came before stays called off when the rule is on again', async () => {
    const rule = await aRule();
    const domain = await sends(rule, 40, { due: 3 });
    const jobs = world.app.app.get(BackgroundJobs);
    // As if this process died before the first piece.
    const piece = jobs.piece.bind(jobs);
    jobs.piece = () => Promise.resolve(false);
    try {
      await rule.api.patch(`${ROUTING}/${rule.ruleId}`, { enabled: false });
      await rule.api.patch(`${ROUTING}/${rule.ruleId}`, { enabled: true });
      expect(await jobsOf(rule.organizationId)).toEqual([{ kind: 'cancel_sends_of_rule' }]);
      const after = await sends(rule, 1, { due: -1 });
      await eventually(
        () => expect(world.mail.begun.filter(({ to }) => to.endsWith(after))).toHaveLength(1),
        {
          within: 20_000,
        },
      );
      const other = await startTestApp({
        module: 'messaging',
        root: MessagingModule,
        database: world.database,
      });
      try {
        await eventually(async () => expect(await inState(rule.organizationId, 'canceled')).toBe(40), {
          within: 20_000,
        });
      } finally {
        await other.close();
      }
    } finally {
      jobs.piece = piece;
    }
    expect(world.mail.begun.filter(({ to }) => to.endsWith(domain))).toEqual([]);
  });
});

describe('an organization that is suspended', () => {
  const told = (id: string, verb: 'suspended' | 'reactivated') =>
    world.app.app.get(OrganizationStates).apply([organizationChange(id, verb)]);

  it('has its sends held without another look, and let go in pieces when it is active again', async () => {
    const rule = await aRule();
    await told(rule.organizationId, 'suspended');
    await sends(rule, 3, { due: -1 });
    await eventually(async () => expect(await inState(rule.organizationId, 'held')).toBe(3), {
      within: 20_000,
    });
    const looks = await world.database.query(
      `SELECT DISTINCT due_at::text AS due_at, reason, release_at FROM sends WHERE organization_id = $1`,
      [rule.organizationId],
    );
    expect(looks).toEqual([{ due_at: 'infinity', reason: 'organization_suspended', release_at: null }]);
    await sends(rule, MANY, { state: 'held' });
    // Nothing leaves: released is told by when a send is due, not by what became of it.
    const { api } = rule;
    await world.database.query(
      `UPDATE sends SET recipient = '{"address": "nobody"}' WHERE organization_id = $1`,
      [rule.organizationId],
    );
    await told(rule.organizationId, 'reactivated');
    await eventually(async () => expect(await inState(rule.organizationId, 'failed')).toBe(MANY + 3), {
      within: 60_000,
    });
    expect(await largestTransaction('sends', rule.organizationId)).toBeLessThanOrEqual(ROWS_OF_A_PIECE);
    expect((await api.get(`/v1/messaging/sends?state=held`)).body).toMatchObject({ data: [] });
  });

  it('leaves none behind, however often it changes while they are looked at', async () => {
    const rule = await aRule();
    await sends(rule, 60, { due: -1 });
    for (let round = 0; round < 10; round += 1) {
      await told(rule.organizationId, 'suspended');
      await told(rule.organizationId, 'reactivated');
    }
    await eventually(async () => expect(await inState(rule.organizationId, 'sent')).toBe(60), {
      within: 30_000,
    });
  });
});

describe('a webhook endpoint with many deliveries', () => {
  async function anEndpoint(): Promise<{ organizationId: string; api: Caller; id: string; path: string }> {
    const { id: organizationId } = world.organization();
    const api = world.app.as(organizationId, ALL_PERMISSIONS);
    const path = `/${newId()}`;
    const { body } = await api.post<{ id: string }>(ENDPOINTS, {
      name: path,
      url: receiver.url(path),
      events: ['core.contact.created'],
    });
    return { organizationId, api, id: body.id, path };
  }

  async function deliveries(organizationId: string, endpointId: string, count: number): Promise<void> {
    await world.database.query(
      `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, correlation_id, due_at, created_at)
       SELECT $1, $2, gen_random_uuid(), 'core.contact.created', '{}', gen_random_uuid(), now() + interval '1 day', now()
         FROM generate_series(1, $3::int)`,
      [organizationId, endpointId, count],
    );
  }

  it('is switched off without touching them, on again in pieces, and removed in pieces', async () => {
    const { organizationId, api, id, path } = await anEndpoint();
    await deliveries(organizationId, id, MANY);
    expect((await api.patch(`${ENDPOINTS}/${id}`, { enabled: false })).status).toBe(200);
    const untouched = await world.database.query(
      `SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND due_at > now() + interval '23 hours'`,
      [organizationId],
    );
    expect(untouched).toHaveLength(MANY);
    await world.database.query(
      `UPDATE webhook_deliveries SET due_at = now() WHERE organization_id = $1 AND event_id IN (
         SELECT event_id FROM webhook_deliveries WHERE organization_id = $1 LIMIT 5)`,
      [organizationId],
    );
    const { body } = await api.get<{ recent_deliveries: { next_attempt_at: string | null }[] }>(
      `${ENDPOINTS}/${id}`,
    );
    expect(new Set(body.recent_deliveries.map(({ next_attempt_at: next }) => next))).toEqual(new Set([null]));
    expect(receiver.at(path)).toEqual([]);
    await api.patch(`${ENDPOINTS}/${id}`, { enabled: true });
    await eventually(() => expect(receiver.at(path).length).toBe(MANY), { within: 60_000 });
    expect(await largestTransaction('webhook_deliveries', organizationId)).toBeLessThanOrEqual(
      ROWS_OF_A_PIECE,
    );
    await api.delete(`${ENDPOINTS}/${id}`);
    expect((await api.delete(`${ENDPOINTS}/${id}/purge`)).status).toBe(204);
    await eventually(
      async () =>
        expect(
          await world.database.query('SELECT 1 FROM webhook_deliveries WHERE organization_id = $1', [
            organizationId,
          ]),
        ).toEqual([]),
      { within: 20_000 },
    );
  });
});

describe('a job that fails', () => {
  it('waits, longer each time, and holds up no other', async () => {
    const [poisoned, other] = [await aRule(), await aRule()];
    await world.database.query(
      `INSERT INTO background_jobs (organization_id, kind, target_id, until, due_at) VALUES ($1, 'unheard_of', $2, now(), now())`,
      [poisoned.organizationId, newId()],
    );
    const domain = await sends(other, 3);
    await other.api.patch(`${ROUTING}/${other.ruleId}`, { enabled: false });
    await eventually(async () => expect(await inState(other.organizationId, 'canceled')).toBe(3), {
      within: 20_000,
    });
    await eventually(
      async () => {
        const [row] = await world.database.query<{ failures: number }>(
          'SELECT failures FROM background_jobs WHERE organization_id = $1',
          [poisoned.organizationId],
        );
        expect(row?.failures).toBeGreaterThan(0);
      },
      { within: 20_000 },
    );
    await world.database.query('DELETE FROM background_jobs WHERE organization_id = $1', [
      poisoned.organizationId,
    ]);
    expect(world.mail.begun.filter(({ to }) => to.endsWith(domain))).toEqual([]);
  });
});

describe('a job that cannot go on', () => {
  const add = (organizationId: string, kind: string, failures = 0) =>
    world.database.query(
      `INSERT INTO background_jobs (organization_id, kind, target_id, until, due_at, failures)
       VALUES ($1, $2, $1, now(), now(), $3)`,
      [organizationId, kind, failures],
    );
  const of = async (organizationId: string) =>
    (
      await world.database.query<{ failures: number; tried: boolean; later: boolean }>(
        `SELECT failures, worked_at <> '-infinity' AS tried, due_at > now() + interval '5 s' AS later
           FROM background_jobs WHERE organization_id = $1`,
        [organizationId],
      )
    )[0];
  const forget = (organizationId: string) =>
    world.database.query('DELETE FROM background_jobs WHERE organization_id = $1', [organizationId]);
  const neighbourGoesOn = async () => {
    const other = await aRule();
    await sends(other, 3);
    await other.api.patch(`${ROUTING}/${other.ruleId}`, { enabled: false });
    await eventually(async () => expect(await inState(other.organizationId, 'canceled')).toBe(3), {
      within: 20_000,
    });
  };

  it('after any number of failures waits five minutes at most, and its neighbours go on', async () => {
    const { id } = world.organization();
    await add(id, 'unheard_of', 60);
    await neighbourGoesOn();
    await eventually(async () => expect(await of(id)).toEqual({ failures: 61, tried: true, later: true }), {
      within: 20_000,
    });
    await forget(id);
  });

  it('is passed over when not even its failure can be written down', async () => {
    const { id } = world.organization();
    const fault = await DatabaseFault.in(world.database, {
      table: 'background_jobs',
      on: 'UPDATE',
      when: `OLD.organization_id = '${id}'`,
    });
    await add(id, 'unheard_of');
    await neighbourGoesOn();
    expect(await of(id)).toMatchObject({ failures: 0, tried: false });
    await fault.mend();
    await eventually(async () => expect(await of(id)).toMatchObject({ tried: true }), { within: 20_000 });
    await forget(id);
  });

  it('does not count a time limit as its failure', async () => {
    const { id } = world.organization();
    world.app.app.get(BackgroundJobs).handle('slow' as string as JobKind, async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 1');
      await tx.query('SELECT pg_sleep(5)');
      return 'done';
    });
    await add(id, 'slow');
    await eventually(async () => expect(await of(id)).toEqual({ failures: 0, tried: true, later: true }), {
      within: 20_000,
    });
    await neighbourGoesOn();
    await forget(id);
  });
});

it('shows a send that was called off with its reason', async () => {
  const rule = await aRule();
  await sends(rule, 1);
  await rule.api.patch(`${ROUTING}/${rule.ruleId}`, { enabled: false });
  const [row] = await world.database.query<{ id: string }>(
    'SELECT id FROM sends WHERE organization_id = $1',
    [rule.organizationId],
  );
  expect(await settled(rule.api, row?.id ?? '', 'canceled')).toMatchObject({ reason: 'rule_disabled' });
});
