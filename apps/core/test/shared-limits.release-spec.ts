import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@customer-platform/database';
import {
  Caller,
  TcpLink,
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
/** Between two requests to one instance: several times the limit comes to each. */
const PAUSE_MS = 20;
/** Whoever asks less often, or not at all for so long, has no processor time, and does not try the limit. */
const FEWEST_REQUESTS_PER_S = 10;
const LONGEST_GAP_MS = 500;
/** On a machine that has much else to do another while is looked at, in place of one in which the limit was not tried. */
const WHILES = 5;

/** What came of a while in which more was sent than the limit allows. */
interface Sent {
  accepted: number;
  seconds: number;
  /** Answers that were neither 202 nor 429. */
  others: number[];
  /** Whether several times the limit came to each instance, without a break. */
  tried: boolean;
}

describe('three processes of core with one PostgreSQL', () => {
  let registry: TestRegistry;
  let database: TestDatabase;
  let link: TcpLink;
  let processes: TestProcess[] = [];
  beforeAll(async () => {
    registry = await TestRegistry.start();
    database = await testDatabase('core', CORE_MIGRATIONS);
    link = new TcpLink();
    await link.open();
    const env = { PROCESS_ROLE: 'api', DATABASE_URL: link.through(database.url) };
    const start = (): Promise<TestProcess> => startTestProcess({ module: 'core', registry, database, env });
    const first = await start();
    processes = [first, ...(await Promise.all([start(), start()]))];
  }, 240_000);
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()));
    await link.cut();
    await registry.close();
    await database.drop();
  });

  /** Sends more than the limit to each of these, until so many seconds are over. */
  async function send(to: readonly TestProcess[], key: string, forSeconds: number): Promise<Sent> {
    const sent: Sent = { accepted: 0, seconds: 0, others: [], tried: true };
    const began = performance.now();
    // A limit that nobody uses yet is full, and gains nothing: what counts begins with the first that is let through.
    let first = Infinity;
    const keepSending = async (caller: Caller): Promise<void> => {
      let requests = 0;
      for (let last = began; performance.now() - began < forSeconds * 1_000; requests += 1) {
        if (performance.now() - last > LONGEST_GAP_MS) sent.tried = false;
        last = performance.now();
        const events = Array.from({ length: BATCH }, () => aTrack());
        const at = performance.now();
        const { status, body } = await caller.post<{ accepted?: number }>('/v1/core/batch', { events });
        if (status === 202) {
          sent.accepted += body.accepted ?? 0;
          first = Math.min(first, at);
        } else if (status !== 429) sent.others.push(status);
        await pause(PAUSE_MS);
      }
      if (requests < FEWEST_REQUESTS_PER_S * forSeconds) sent.tried = false;
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

  const expectWithin = (ratio: number, part: number): void => {
    expect(ratio).toBeGreaterThan(1 - part);
    expect(ratio).toBeLessThan(1 + part);
  };

  /** Of the first while in which the limit was tried; of the last where the machine left none. */
  async function expectLimit(aWhile: () => Promise<Sent>, part: number, burst = 0): Promise<void> {
    let sent = await aWhile();
    for (let whiles = 1; !sent.tried && whiles < WHILES; whiles += 1) sent = await aWhile();
    expect(sent.others).toEqual([]);
    expectWithin(sent.accepted / ((burst + sent.seconds) * PER_SECOND), part);
  }

  it('give an organization its burst and its limit, all together', async () => {
    await expectLimit(() => send(processes, aLimitedKey(), 10), 0.1, 2);
  }, 120_000);

  it('go on with their shares while PostgreSQL is away, and hold the limit when it is back', async () => {
    const key = aLimitedKey();
    await send(processes, key, 6);
    await link.cut();
    await expectLimit(() => send(processes, key, 8), 0.35);
    const shown = await Promise.all(processes.map(({ url }) => metricOf(url)));
    expect(Math.min(...shown)).toBeGreaterThan(0);
    await link.open();
    await eventually(
      async () => {
        const away = await Promise.all(processes.map(({ url }) => metricOf(url)));
        if (Math.max(...away) > 0) throw new Error('not shared yet');
      },
      { within: 60_000 },
    );
    await expectLimit(async () => {
      // What was saved meanwhile goes first.
      await send(processes, key, 3);
      return send(processes, key, 8);
    }, 0.1);
  }, 300_000);

  it('give all of it to those that are left when one is killed', async () => {
    const [killed, ...left] = processes;
    let isKilled = false;
    await expectLimit(async () => {
      if (isKilled) await killed?.restart();
      const key = aLimitedKey();
      await send(processes, key, 4);
      await killed?.crash();
      isKilled = true;
      return send(left, key, 8);
    }, 0.1);
  }, 300_000);
});

/** For how long this process has not reached what it shares its limits in. */
async function metricOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, seconds] = /^rate_limit_store_away_seconds (\S+)$/m.exec(text) ?? [];
  return Number(seconds);
}
