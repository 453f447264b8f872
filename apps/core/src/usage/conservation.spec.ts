import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { eventually, type Caller } from '@customer-platform/testing';
import { aTrack, startCore, type TestCore } from '../core.fixture.js';

interface Counts {
  accepted: number;
  stored: number;
  duplicates: number;
  dead_lettered: number;
  pending: number;
}

const usage = async (caller: Caller): Promise<Counts> => {
  const answer = await caller.get<{ data: { events: Counts }[]; totals: { events: Counts } }>(
    '/v1/core/usage',
  );
  expect(answer.status).toBe(200);
  for (const { events } of [...answer.body.data, answer.body.totals]) {
    const { accepted, stored, duplicates, dead_lettered, pending } = events;
    expect(accepted).toBe(stored + duplicates + dead_lettered + pending);
    for (const count of Object.values(events)) expect(count).toBeGreaterThanOrEqual(0);
  }
  return answer.body.totals.events;
};

describe('accepted = stored + duplicates + dead-lettered + pending', () => {
  let core: TestCore;
  beforeAll(async () => {
    core = await startCore();
  });
  afterAll(() => core.close());

  it('at every instant, for any mix of events, repeats and other bodies', async () => {
    const sent = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 2 })), {
      minLength: 1,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(sent, async (list) => {
        const { caller } = core.anOrganization();
        const at = '2026-01-15T12:00:00.000Z';
        const bodies = list.map(([key, body]) =>
          aTrack({ idempotency_key: `k${key}`, external_id: `x${key}`, event: `b${body}`, occurred_at: at }),
        );
        const half = bodies.length >> 1;
        const answers = await Promise.all([
          ...bodies.slice(0, half).map((body) => caller.post('/v1/core/track', body)),
          caller.post('/v1/core/batch', { events: bodies.slice(half) }),
        ]);
        fc.pre(answers.every(({ status }) => status === 202));
        // All that was answered 202 is counted, processed or not; where that takes long the answer does not wait for it.
        await eventually(async () => expect((await usage(caller)).accepted).toBe(bodies.length));
        const keys = new Set(list.map(([key]) => key)).size;
        const distinct = new Set(list.map(String)).size;
        await eventually(async () =>
          expect(await usage(caller)).toMatchObject({
            accepted: bodies.length,
            stored: keys,
            dead_lettered: distinct - keys,
            duplicates: bodies.length - distinct,
            pending: 0,
          }),
        );
      }),
      { numRuns: 8 },
    );
  }, 120_000);
});

describe('a worker that is killed', () => {
  const ROOT = join(import.meta.dirname, '../../../..');
  let core: TestCore;
  let environment: NodeJS.ProcessEnv;
  let worker: ChildProcess | undefined;

  beforeAll(async () => {
    // The worker of the child must see what the app in this process was started with.
    const seen: NodeJS.ProcessEnv = {};
    core = await startCore({ PROCESS_ROLE: 'api' }, () => Object.assign(seen, process.env));
    environment = { ...seen, PROCESS_ROLE: 'worker', NODE_OPTIONS: '', LOG_LEVEL: 'fatal' };
  });
  afterAll(async () => {
    worker?.kill('SIGKILL');
    await core.close();
  });

  const start = (): void => {
    const loader = join(ROOT, 'apps/core/test/source-loader.mjs');
    const main = join(ROOT, 'apps/core/src/main.ts');
    const child = spawn(process.execPath, ['--conditions=source', '--import', loader, main], {
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    worker = child;
  };

  it('loses nothing and does nothing twice', async () => {
    const { id, caller } = core.anOrganization();
    let sent = 0;
    let sending = true;
    const stream = (async () => {
      while (sending) {
        const events = Array.from({ length: 20 }, () =>
          aTrack({ external_id: `x${Math.floor(Math.random() * 50)}` }),
        );
        const answer = await caller.post('/v1/core/batch', { events });
        if (answer.status === 202) sent += events.length;
        await pause(20);
      }
    })();
    for (const storedBefore of [100, 400]) {
      start();
      await eventually(async () => expect((await usage(caller)).stored).toBeGreaterThan(storedBefore), {
        within: 60_000,
      });
      worker?.kill('SIGKILL');
      // Dead, it leaves everything pending, and the law holds.
      const { accepted, stored } = await usage(caller);
      expect(accepted).toBeGreaterThanOrEqual(stored);
    }
    sending = false;
    await stream;
    expect((await usage(caller)).accepted).toBeGreaterThanOrEqual(sent);
    start();
    await eventually(async () => expect((await usage(caller)).pending).toBe(0), {
      within: 60_000,
      every: 100,
    });
    const counts = await usage(caller);
    const [row] = await core.database.query<{ events: string; keys: string; told: string }>(
      `SELECT count(*) AS events, count(DISTINCT idempotency_key) AS keys FROM events WHERE organization_id = $1`,
      [id],
    );
    expect(Number(row?.events)).toBe(counts.stored);
    expect(counts).toMatchObject({ duplicates: 0, dead_lettered: 0, stored: counts.accepted });
    expect(counts.stored).toBeGreaterThanOrEqual(sent);
    const [contacts] = await core.database.query<{ count: string }>(
      'SELECT count(*) FROM contacts WHERE organization_id = $1',
      [id],
    );
    expect(Number(contacts?.count)).toBeLessThanOrEqual(50);
  }, 180_000);
});
