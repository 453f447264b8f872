import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@customer-platform/database';
import {
  Caller,
  DatabaseProxy,
  eventually,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type TestDatabase,
  type TestProcess,
} from '@customer-platform/testing';
import { aTrack } from '../src/core.fixture.js';
import { CORE_MIGRATIONS } from '../src/migrations/core.migrations.js';

const PER_SECOND = 100;
const BATCH = 20;
/** A limit that nobody uses gathers so many seconds' worth. */
const BURST_SECONDS = 2;
/** Between two requests to one instance: several times the limit comes to each. */
const PAUSE_MS = 20;

/** Of which one must bring all that the limit allows. */
const WHILES = 4;

/** What came of a while in which more was sent than the limit allows. */
interface Sent {
  accepted: number;
  seconds: number;
  /** Answers that were neither 202 nor 429. */
  others: number[];
}

describe('three processes of core with one PostgreSQL', () => {
  let registry: TestRegistry;
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let processes: TestProcess[] = [];
  beforeAll(async () => {
    registry = await TestRegistry.start();
    database = await testDatabase('core', CORE_MIGRATIONS);
    proxy = new DatabaseProxy();
    await proxy.open();
    const env = { PROCESS_ROLE: 'api', DATABASE_URL: proxy.through(database.url) };
    const start = (): Promise<TestProcess> => startTestProcess({ module: 'core', registry, database, env });
    const first = await start();
    processes = [first, ...(await Promise.all([start(), start()]))];
  }, 240_000);
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()));
    await proxy.cut();
    await registry.close();
    await database.drop();
  });

  /** Sends more than the limit to each of these, until so many seconds are over. */
  async function send(to: readonly TestProcess[], key: string, forSeconds: number): Promise<Sent> {
    const sent: Sent = { accepted: 0, seconds: 0, others: [] };
    const began = performance.now();
    // A limit that nobody uses yet is full, and gains nothing: what counts begins with the first that is let through.
    let first = Infinity;
    const keepSending = async (caller: Caller): Promise<void> => {
      while (performance.now() - began < forSeconds * 1_000) {
        const events = Array.from({ length: BATCH }, () => aTrack());
        const at = performance.now();
        const { status, body } = await caller.post<{ accepted?: number }>('/v1/core/batch', { events });
        if (status === 202) {
          sent.accepted += body.accepted ?? 0;
          first = Math.min(first, at);
        } else if (status !== 429) sent.others.push(status);
        await pause(PAUSE_MS);
      }
    };
    await Promise.all(to.map(({ url }) => keepSending(new Caller(url, key, () => !registry.isDown))));
    sent.seconds = (performance.now() - Math.max(began, first)) / 1_000;
    return sent;
  }

  function aLimitedKey(): string {
    const settings = {
      rate_limits: { key_per_second: 10 * PER_SECOND, organization_per_second: PER_SECOND },
    };
    return registry.key({ organizationId: newId(), permissions: ['core.events.write'], settings });
  }

  /**
   * More than the limit never comes through, and all of it does: in one of a few whiles, for processes that get no
   * processor time take nothing.
   * @param part of the limit by which a while may be off
   * @param burst seconds' worth that is let through besides
   */
  async function expectLimit(aWhile: () => Promise<Sent>, part: number, burst = 0): Promise<void> {
    const ratios: number[] = [];
    for (let times = 0; times < WHILES && !ratios.some((ratio) => ratio > 1 - part); times += 1) {
      const { accepted, seconds, others } = await aWhile();
      expect(others).toEqual([]);
      const ratio = accepted / ((burst + seconds) * PER_SECOND);
      // Processes that got no time leave a burst behind, which the next while may take.
      const left = times > 0 ? BURST_SECONDS / (burst + seconds) : 0;
      expect(ratio).toBeLessThan(1 + part + left);
      ratios.push(ratio);
    }
    expect(Math.max(...ratios)).toBeGreaterThan(1 - part);
  }

  it('give an organization its burst and its limit, all together', async () => {
    await expectLimit(() => send(processes, aLimitedKey(), 10), 0.1, BURST_SECONDS);
  }, 120_000);

  it('go on with their shares while PostgreSQL is away, and hold the limit when it is back', async () => {
    const key = aLimitedKey();
    await send(processes, key, 6);
    await proxy.cut();
    await expectLimit(() => send(processes, key, 8), 0.35);
    const shown = await Promise.all(processes.map(({ url }) => metricOf(url)));
    expect(Math.min(...shown)).toBeGreaterThan(0);
    await proxy.open();
    await eventually(
      async () => {
        const away = await Promise.all(processes.map(({ url }) => metricOf(url)));
        if (Math.max(...away) > 0) throw new Error('not shared yet');
      },
      { within: 60_000 },
    );
    await send(processes, key, 3);
    await expectLimit(() => send(processes, key, 8), 0.1);
  }, 240_000);

  it('give all of it to those that are left when one is killed', async () => {
    const key = aLimitedKey();
    await send(processes, key, 4);
    const [killed, ...left] = processes;
    await killed?.crash();
    await expectLimit(() => send(left, key, 8), 0.1);
  }, 120_000);
});

/** For how long this process has not reached what it shares its limits in. */
async function metricOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, seconds] = /^rate_limit_store_away_seconds (\S+)$/m.exec(text) ?? [];
  return Number(seconds);
}
