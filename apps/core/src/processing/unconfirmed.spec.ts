import { newId } from '@customer-platform/database';
import {
  eventually,
  startTestApp,
  testDatabase,
  TestRegistry,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { coreApp } from '../core.app.js';
import { accepted, aTrack, START_MS } from '../core.fixture.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';

const PERMISSIONS = ['core.events.write', 'core.jobs.read', 'core.jobs.replay', 'core.usage.read'] as const;

interface Letter {
  id: string;
  code: string;
  external_id: string;
}

/** Core ends and begins anew in these tests; registry, database and topics outlive it. */
describe('events accepted while the registry is away', () => {
  let registry: TestRegistry;
  let database: TestDatabase;
  let app: TestApp;
  beforeAll(async () => {
    registry = await TestRegistry.start();
    database = await testDatabase('core', CORE_MIGRATIONS);
    app = await start();
  }, START_MS);
  afterAll(async () => {
    registry.outage(false);
    await app.close();
    await registry.close();
    await database.drop();
  });
  afterEach(() => registry.outage(false));

  const start = () => startTestApp({ ...coreApp(), database, registry });

  const stored = async (organizationId: string): Promise<unknown[]> => {
    const rows = await database.query<{ external_id: string }>(
      'SELECT external_id FROM events WHERE organization_id = $1 ORDER BY external_id',
      [organizationId],
    );
    return rows.map((row) => row.external_id);
  };

  /** The process has read the change feed: what it learns of keys from now on, it keeps. */
  const ready = () =>
    eventually(
      async () => {
        const answer = await fetch(`${app.url}/health/ready`);
        await answer.arrayBuffer();
        expect(answer.status).toBe(200);
      },
      { within: START_MS - 30_000 },
    );

  /** Two keys that the process has known good, and an outage that it has noticed. */
  const anOutage = async () => {
    await ready();
    const organizationId = newId();
    const [good, bad] = [1, 2].map(() => registry.key({ organizationId, permissions: PERMISSIONS }));
    if (good === undefined || bad === undefined) throw new Error('no keys');
    for (const key of [good, bad]) await accepted(app.with(key), aTrack({ external_id: 'before' }));
    await eventually(async () => expect(await stored(organizationId)).toEqual(['before', 'before']), {
      within: START_MS - 30_000,
    });
    registry.outage(true);
    await eventually(async () => expect((await app.with(good).get('/v1/core/usage')).status).toBe(503));
    return { organizationId, good, bad };
  };

  const letters = (key: string) =>
    eventually(async () => {
      const { body } = await app.with(key).get<{ data: Letter[] }>('/v1/core/dead-letters');
      expect(body.data).toHaveLength(1);
      return body.data[0];
    });

  it.each([
    ['after the registry has come back', false],
    ['before the registry comes back', true],
  ])(
    'are confirmed by the process that follows, begun %s',
    async (_, beginsFirst) => {
      const { organizationId, good, bad } = await anOutage();
      await accepted(app.with(bad), aTrack({ external_id: 'bad, valid' }));
      registry.revoke(bad);
      // The registry counts in milliseconds, and the end is exclusive.
      await eventually(() => expect(Date.now()).toBeGreaterThan(registry.revokedAt(bad)));
      await accepted(app.with(good), aTrack({ external_id: 'good' }));
      await accepted(app.with(bad), aTrack({ external_id: 'bad, revoked' }));
      await app.close();
      if (!beginsFirst) registry.outage(false);
      app = await start();
      if (beginsFirst) {
        expect(await stored(organizationId)).toEqual(['before', 'before']);
        registry.outage(false);
      }
      await eventually(
        async () => expect(await stored(organizationId)).toEqual(['bad, valid', 'before', 'before', 'good']),
        { within: START_MS - 30_000 },
      );
      expect(await letters(good)).toMatchObject({ code: 'credential_revoked', external_id: 'bad, revoked' });
      await eventually(async () => {
        const { body } = await app.with(good).get<{ totals: { events: object } }>('/v1/core/usage');
        expect(body.totals.events).toMatchObject({ accepted: 5, stored: 4, dead_lettered: 1, pending: 0 });
      });
    },
    START_MS,
  );

  it(
    'wait for the registry through a second outage, and are each stored once',
    async () => {
      const { organizationId, good } = await anOutage();
      for (const external_id of ['a', 'b']) await accepted(app.with(good), aTrack({ external_id }));
      await app.close();
      app = await start();
      registry.outage(false);
      await ready();
      await eventually(async () => expect((await app.with(good).get('/v1/core/usage')).status).toBe(200));
      registry.outage(true);
      await accepted(app.with(good), aTrack({ external_id: 'c' }));
      registry.outage(false);
      await eventually(
        async () => expect(await stored(organizationId)).toEqual(['a', 'b', 'before', 'before', 'c']),
        { within: START_MS - 30_000 },
      );
    },
    START_MS,
  );

  it(
    'stay unstored when they are replayed, and leave their key to the event of somebody who may',
    async () => {
      const { organizationId, good, bad } = await anOutage();
      registry.revoke(bad);
      const event = aTrack({ external_id: 'mallory' });
      await accepted(app.with(bad), event);
      registry.outage(false);
      const letter = await letters(good);
      const replay = await app.with(good).post(`/v1/core/dead-letters/${letter?.id ?? ''}/replay`);
      expect(replay).toMatchObject({ status: 409, body: { code: 'not_replayable' } });
      expect(await stored(organizationId)).toEqual(['before', 'before']);
      await accepted(app.with(good), event);
      await eventually(async () =>
        expect(await stored(organizationId)).toEqual(['before', 'before', 'mallory']),
      );
      await accepted(app.with(good), event);
      await accepted(app.with(good), { ...event, external_id: 'another' });
      await eventually(async () => {
        const { body } = await app.with(good).get<{ totals: { events: object } }>('/v1/core/usage');
        const counts = { accepted: 6, stored: 3, dead_lettered: 2, duplicates: 1, pending: 0 };
        expect(body.totals.events).toMatchObject(counts);
      });
    },
    START_MS,
  );
});
