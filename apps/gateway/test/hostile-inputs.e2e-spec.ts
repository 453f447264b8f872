import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { done, obtainCredentials, type Credentials } from './credentials.fixture.js';
import {
  bodyRoutes,
  FORMS,
  hostileBody,
  SHAPES,
  type BodyRoute,
  type Shape,
} from './hostile-inputs.fixture.js';
import {
  END_WITHIN_MS,
  MODULES,
  PlatformUnderTest,
  START_WITHIN_MS,
  type Module,
  type Tenant,
} from './platform.fixture.js';

/** What a module did since it was asked last. */
interface Work {
  readonly cpuSeconds: number;
  /** The longest that the loop was held, in milliseconds. */
  readonly heldMs: number;
}

/** Its own histogram of the loop looks every 10 ms, which is in what it tells. */
const RESOLUTION_MS = 10;

/**
 * No time is asserted, for machines differ: work that is in proportion to a body is four times as much for four times
 * the bytes, on each of them, work with its square sixteen times. Below a second of CPU nothing is judged, because
 * neither is then told from what else the process does.
 */
const JUDGED_FROM_S = 1;
const MOST_TIMES = 8;

const routes = bodyRoutes();
const worst = new Map<string, { heldMs: number; by: string }>();

jest.setTimeout(600_000);

let platform: PlatformUnderTest;
let mine: Tenant;
let credentials: Credentials;
let twilioPath: string;

beforeAll(async () => {
  platform = await PlatformUnderTest.start();
  mine = await platform.tenant();
  credentials = await obtainCredentials(platform, mine);
  const sms = {
    provider: 'twilio',
    from: '+56961234567',
    account_sid: `AC${'a'.repeat(32)}`,
    auth_token: 'a token of tests that nobody else has',
  };
  const { channels } = await done<{ channels: { sms: { webhook_url: string } } }>(
    mine.admin.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { sms } } }),
  );
  const { pathname, search } = new URL(channels.sms.webhook_url);
  twilioPath = pathname + search;
}, START_WITHIN_MS);
afterAll(() => platform.stop(), END_WITHIN_MS);
afterAll(() => {
  const lines = [...worst].sort(([, one], [, other]) => other.heldMs - one.heldMs);
  const table = lines.map(
    ([route, { heldMs, by }]) => `${heldMs.toFixed(0).padStart(6)} ms  ${route}  (${by})`,
  );
  process.stdout.write(`\nThe longest that a route held the loop:\n${table.join('\n')}\n`);
});

/** What a module has done since the last call; asking sets its histogram back. */
async function workOf(module: Module, before = 0): Promise<Work> {
  const text = await (await fetch(`${platform.urlOf(module)}/metrics`)).text();
  const value = (name: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? NaN,
    );
  return {
    cpuSeconds: value('process_cpu_seconds_total') - before,
    heldMs: value('nodejs_eventloop_lag_max_seconds') * 1_000 - RESOLUTION_MS,
  };
}

function tokenFor({ authorization }: BodyRoute): string | undefined {
  if (authorization === 'member_token') return credentials.memberToken;
  return authorization === undefined ? mine.adminKey : undefined;
}

/** Sends bytes through the front door. @returns the status */
async function send(
  method: string,
  path: string,
  body: string,
  type: string,
  token?: string,
): Promise<number> {
  const answer = await fetch(platform.url + path.replaceAll(/\{\w+\}/g, randomUUID()), {
    method,
    body,
    headers: {
      'content-type': type,
      'idempotency-key': randomUUID(),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** What all of `calls` cost the module together, and the statuses that are no refusals. */
async function costOf(
  module: Module,
  calls: readonly (() => Promise<number>)[],
): Promise<Work & { failed: number[] }> {
  const { cpuSeconds } = await workOf(module);
  const failed: number[] = [];
  for (const call of calls) {
    const status = await call();
    if (status >= 500 && status !== 503) failed.push(status);
  }
  return { ...(await workOf(module, cpuSeconds)), failed };
}

async function judge(
  name: string,
  by: string,
  module: Module,
  callsOf: (share: number) => readonly (() => Promise<number>)[],
): Promise<void> {
  const whole = await costOf(module, callsOf(1));
  if (whole.heldMs > (worst.get(name)?.heldMs ?? 0)) worst.set(name, { heldMs: whole.heldMs, by });
  expect([name, by, whole.failed]).toEqual([name, by, []]);
  if (whole.cpuSeconds < JUDGED_FROM_S) return;
  const quarter = await costOf(module, callsOf(1 / 4));
  const most = JUDGED_FROM_S + MOST_TIMES * quarter.cpuSeconds;
  expect([
    name,
    by,
    whole.cpuSeconds > most ? `${whole.cpuSeconds} s, a quarter ${quarter.cpuSeconds} s` : '',
  ]).toEqual([name, by, '']);
}

function moduleOf(path: string): Module {
  return MODULES.find((module) => path.startsWith(`/v1/${module}/`)) ?? 'identity';
}

function callsOf(route: BodyRoute, shape: Shape, share: number): (() => Promise<number>)[] {
  const room = route.limit - JSON.stringify(route.example).length - 200;
  const value = shape.of(room * share);
  const bodies = [undefined, ...route.fields].map((field) => hostileBody(route, field, value));
  return [...new Set(bodies)].map(
    (body) => () => send(route.method, route.path, body, 'application/json', tokenFor(route)),
  );
}

describe.each(routes)('$method $path', (route) => {
  it('takes time in proportion to any field filled with any shape', async () => {
    for (const shape of SHAPES) {
      const name = `${route.method} ${route.path}`;
      await judge(name, shape.name, moduleOf(route.path), (share) => callsOf(route, shape, share));
    }
  });
});

describe('POST /v1/messaging/webhooks/twilio', () => {
  it.each(Object.entries(FORMS))('takes time in proportion to an unsigned form of %s', async (name, form) => {
    await judge('POST /v1/messaging/webhooks/twilio', name, 'messaging', (share) => [
      () => {
        const body = form(1024 * 1024 * share);
        const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'x' };
        return fetch(platform.url + twilioPath, { method: 'POST', body, headers }).then(
          ({ status }) => status,
        );
      },
    ]);
  });
});

it('events are taken beside hostile bodies as without them', async () => {
  const hostile = routes.find(({ method, path }) => method === 'POST' && path === '/v1/core/contacts');
  const alone = await trackSome();
  let going = true;
  const attack = (async () => {
    while (going && hostile) {
      for (const shape of SHAPES) for (const call of callsOf(hostile, shape, 1)) if (going) await call();
    }
  })();
  const beside = await trackSome();
  going = false;
  await attack;
  const p95 = (times: readonly number[]): string =>
    `${([...times].sort((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? NaN).toFixed(0)} ms`;
  process.stdout.write(`\ntrack p95: ${p95(alone)} alone, ${p95(beside)} beside hostile bodies\n`);
});

/** Events one after the other. @returns how long each took, in milliseconds */
async function trackSome(): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < 200; at++) {
    const begun = performance.now();
    const { status } = await mine.ingestion.post('/v1/core/track', {
      event: 'looked',
      external_id: 'somebody',
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
    });
    times.push(performance.now() - begun);
    expect(status).toBe(202);
  }
  return times;
}
