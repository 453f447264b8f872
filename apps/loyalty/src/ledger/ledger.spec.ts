import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  expectProblem,
  kafkaProbe,
} from '@customer-platform/testing';
import {
  type LoyaltyWorld,
  MARKERS,
  aLoyaltyWorld,
  aRecordedEvent,
  startLoyalty,
} from '../loyalty.fixture.js';

let app: TestApp;
let database: TestDatabase;
let probe: KafkaProbe;
let close: () => Promise<void>;
const aWorld = (): LoyaltyWorld => aLoyaltyWorld(app, probe);
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
afterAll(() => close());

describe('the ledger', () => {
  it.each(['transactions', 'lines', 'tombstones'])(
    'refuses UPDATE, DELETE and TRUNCATE of %s to every role',
    async (table) => {
      const world = aWorld();
      await world.rule();
      await world.record(aRecordedEvent());
      await database.query(`INSERT INTO tombstones VALUES ($1, gen_random_uuid(), now(), 0, 0)`, [
        world.organizationId,
      ]);
      const roles = [
        [database.url, /permission denied|INSERT only/],
        [database.ownerUrl, /INSERT only/],
        [database.adminUrl, /INSERT only/],
      ] as const;
      for (const [connectionString, refusal] of roles) {
        const client = new Client({ connectionString });
        await client.connect();
        // What replication does passes ordinary triggers by.
        if (connectionString === database.adminUrl)
          await client.query('SET session_replication_role = replica');
        await client.query(`SELECT set_config('app.organization_id', $1, false)`, [world.organizationId]);
        for (const statement of [
          `UPDATE ${table} SET organization_id = organization_id`,
          `DELETE FROM ${table}`,
          `TRUNCATE ${table} CASCADE`,
        ]) {
          await expect(client.query(statement)).rejects.toThrow(refusal);
        }
        await client.end();
      }
    },
  );

  it('can be entered at any point of a contact’s time, ties by id', async () => {
    const world = aWorld();
    await world.rule({ formula: { type: 'fixed', points: 1 }, valid_from: '2020-01-01T00:00:00Z' });
    const contact_id = randomUUID();
    const times = Array.from({ length: 12 }, (_, n) =>
      new Date(Date.UTC(2026, 0, 1 + (n % 4))).toISOString(),
    );
    await world.record(...times.map((occurred_at) => aRecordedEvent({ contact_id, occurred_at })));
    const all = await world.transactions(`contact_id=${contact_id}&sort=-occurred_at`);
    expect(all).toHaveLength(12 + MARKERS);
    const sorted = [...all].sort((a, b) =>
      `${b.occurred_at} ${b.id}`.localeCompare(`${a.occurred_at} ${a.id}`),
    );
    expect(all.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
    for (const [index, row] of all.entries()) {
      const rest = await world.transactions(
        `contact_id=${contact_id}&sort=-occurred_at&before_occurred_at=${row.occurred_at}&before_id=${row.id}`,
      );
      expect(rest.map(({ id }) => id)).toEqual(all.slice(index + 1).map(({ id }) => id));
    }
    expectProblem(await world.caller.get('/v1/loyalty/transactions?sort=occurred_at'), 400, 'invalid_sort');
  });

  it('is nobody else’s: 404 and an empty list for another organization', async () => {
    const world = aWorld();
    await world.rule();
    const event = aRecordedEvent();
    await world.record(event);
    const [row] = await world.transactions(`event_id=${event.event_id}`);
    const stranger = aWorld();
    expectProblem(await stranger.caller.get(`/v1/loyalty/transactions/${row?.id}`), 404, 'not_found');
    expect(await stranger.transactions(`event_id=${event.event_id}`)).toEqual([]);
    const balance = await stranger.caller.get(`/v1/loyalty/contacts/${event.contact_id}/balance`);
    expectProblem(balance, 404, 'not_found');
  });

  it('cannot be changed by any call: 405', async () => {
    const world = aWorld();
    const path = `/v1/loyalty/transactions/${randomUUID()}`;
    expectProblem(await world.caller.patch(path, {}), 405, 'method_not_allowed');
    expectProblem(await world.caller.delete(path), 405, 'method_not_allowed');
    expectProblem(await world.caller.delete(`${path}/purge`), 404, 'route_not_found');
  });
});
