import { InternalClient, Tenants } from '@customer-platform/authorization';
import { type Clock, Database, newId, OrganizationRetention } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import type { Caller } from '@customer-platform/testing';
import {
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  shown,
  type MessagingWorld,
} from './messaging.fixture.js';
import { RETAINED_DELIVERIES } from './webhook-endpoints/deliveries/retained-deliveries.js';
import { RETAINED_SENDS } from './dispatch/sends/retained-sends.js';

const DAY_MS = 86_400_000;

let world: MessagingWorld;
let now: number;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());
beforeEach(() => (now = Date.now()));
afterEach(async () => {
  for (const id of told.splice(0)) world.app.registry.organization(id);
  await world.database.query('DELETE FROM retention_periods');
});

/** Organizations that have said something. */
const told: string[] = [];

/** Another instance of the job, whose clock shows this. */
const sweep = (time = now, rowsAtOnce?: number): Promise<number> => {
  const { app } = world.app;
  const kinds = [RETAINED_SENDS, RETAINED_DELIVERIES];
  const at: Clock = { now: () => new Date(time) };
  const retention = new OrganizationRetention(
    app.get(Database),
    app.get(InternalClient),
    at,
    kinds,
    app.get(Tenants),
  );
  return retention.sweep(rowsAtOnce);
};

/** Says for how long an organization keeps things, and that it has said so for a day. */
async function hasKept(id: string, retention: Record<string, number>): Promise<void> {
  told.push(id);
  world.app.registry.organization(id, { settings: { retention } });
  await sweep(now - DAY_MS);
}

async function sent(api: Caller, age: number): Promise<string> {
  const id = await send(api, aSend({ metadata: { order: 7 } }));
  await settled(api, id, 'sent', 'delivered');
  await world.database.query('UPDATE sends SET created_at = $2 WHERE id = $1', [id, new Date(now - age)]);
  return id;
}

describe('sends of which an organization says for how long their content is kept', () => {
  it('lose what was said when its time is over, and nothing else, nor anybody else’s', async () => {
    const [one, other] = [world.organization(), world.organization()];
    const [old, young, theirs] = await Promise.all([
      sent(one.api, 20 * DAY_MS + 1),
      sent(one.api, 20 * DAY_MS),
      sent(other.api, 20 * DAY_MS + 1),
    ]);
    const before = { row: await shown(one.api, old), steps: await history(one.api, old) };
    await hasKept(one.id, { sends_days: 20 });
    expect(await sweep()).toBe(1);
    const at = new Date(now).toISOString();
    const emptied = { subject: null, metadata: null, content_removed_at: at, updated_at: at };
    expect(await shown(one.api, old)).toEqual({ ...before.row, ...emptied });
    expect(await history(one.api, old)).toEqual(before.steps);
    const kept = { subject: 'Hello', metadata: { order: 7 }, content_removed_at: null };
    expect(await shown(one.api, young)).toMatchObject(kept);
    expect(await shown(other.api, theirs)).toMatchObject(kept);
    expect(await sweep()).toBe(0);
  });

  it('keep it while they have not ended; of what was in an inbox nothing stays', async () => {
    const { id, api } = world.organization();
    const held = await send(api, aSend({ not_before: new Date(now + 5 * DAY_MS).toISOString() }));
    const told = await sent(api, 0);
    await world.database.query('UPDATE sends SET created_at = $2 WHERE organization_id = $1', [
      id,
      new Date(now - 30 * DAY_MS),
    ]);
    await world.database.query(
      `INSERT INTO notifications (organization_id, id, contact_id, title, body, created_at)
       VALUES ($1, $2, $3, 'Hello', 'There', now()), ($1, $4, $3, 'Hello', 'There', now())`,
      [id, told, newId(), newId()],
    );
    await hasKept(id, { sends_days: 7 });
    expect(await sweep()).toBe(1);
    expect(await shown(api, held)).toMatchObject({ content_removed_at: null });
    const left = await world.database.query('SELECT id FROM notifications WHERE organization_id = $1', [id]);
    expect(left).toHaveLength(1);
    await world.database.query(`UPDATE sends SET state = 'canceled', due_at = NULL WHERE id = $1`, [held]);
    expect(await sweep()).toBe(1);
  });

  it('go in pieces, once, by several instances at once', async () => {
    const { id } = world.organization();
    await world.database.query(
      `INSERT INTO sends (organization_id, id, channel, state, category, recipient, subject, source, lane, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'email', 'delivered', 'marketing', '{}', 'Hello', 'api', 1, $2, $2
         FROM generate_series(1, 500)`,
      [id, new Date(now - 30 * DAY_MS)],
    );
    await hasKept(id, { sends_days: 7 });
    const counts = await Promise.all([sweep(now, 40), sweep(now, 40)]);
    const rest = await sweep(now, 40);
    expect(counts.reduce((sum, count) => sum + count, rest)).toBe(500);
    const left = await world.database.query(
      'SELECT 1 FROM sends WHERE organization_id = $1 AND subject IS NOT NULL',
      [id],
    );
    expect(left).toEqual([]);
  });
});

describe('deliveries to webhook endpoints', () => {
  it('go when they have ended and their time is over, endpoint by endpoint', async () => {
    const [one, other] = [world.organization(PERMISSIONS), world.organization(PERMISSIONS)];
    const endpoint = async ({ api }: { api: Caller }): Promise<string> => {
      const body = { name: newId(), url: 'https://example.com/hook', events: ['core.contact.updated'] };
      const answer = await api.post<{ id: string }>('/v1/messaging/webhook-endpoints', body);
      expect(answer.status).toBe(201);
      return answer.body.id;
    };
    const store = async (id: string, endpointId: string, age: number, state: string): Promise<void> => {
      await world.database.query(
        `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, correlation_id, state, created_at)
         VALUES ($1, $2, gen_random_uuid(), 'core.contact.updated.v1', gen_random_uuid(), $3, $4)`,
        [id, endpointId, state, new Date(now - age)],
      );
    };
    const endpoints = [await endpoint(one), await endpoint(one)];
    const foreign = await endpoint(other);
    for (const endpointId of endpoints)
      for (const state of ['delivered', 'failed', 'pending']) {
        await store(one.id, endpointId, 8 * DAY_MS + 1, state);
        await store(one.id, endpointId, 8 * DAY_MS, state);
      }
    await store(other.id, foreign, 9 * DAY_MS, 'delivered');
    await hasKept(one.id, { webhook_deliveries_days: 8 });
    expect(await sweep(now, 3)).toBe(4);
    const left = await world.database.query(
      `SELECT state, count(*)::int AS count FROM webhook_deliveries WHERE organization_id = $1 GROUP BY state ORDER BY state`,
      [one.id],
    );
    expect(left).toEqual([
      { state: 'delivered', count: 2 },
      { state: 'failed', count: 2 },
      { state: 'pending', count: 4 },
    ]);
    const theirs = await world.database.query('SELECT 1 FROM webhook_deliveries WHERE organization_id = $1', [
      other.id,
    ]);
    expect(theirs).toHaveLength(1);
  });
});
