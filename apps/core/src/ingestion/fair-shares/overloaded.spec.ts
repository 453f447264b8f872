import { createServer, type Server } from 'node:http';
import { jest } from '@jest/globals';
import { CredentialResolver } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Caller, type TestApp } from '@customer-platform/testing';
import type { AddressInfo } from 'node:net';
import { aTrack, startCore, type TestCore } from '../../core.fixture.js';
import { BatchService } from '../batch.service.js';
import { HotRoute } from '../hot-route.js';
import { IngestionRequests } from '../ingestion-request.js';
import { IngestionService } from '../ingestion.service.js';
import { Refusals } from '../refusals.js';
import { FairShares } from './fair-shares.js';

const large = newId();
const small = newId();
let core: TestCore;
let shares: FairShares;
let server: Server;
beforeAll(async () => {
  core = await startCore();
  shares = overloadedBy(large);
  expect(shares.limit).toBeDefined();
  const route = new HotRoute(requestsOf(core.app, shares));
  server = createServer((request, response) => void route.take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await core.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Shares of a core at which 140 requests of that tenant wait for 0.7 s each, beside a few of others. */
function overloadedBy(tenant: string): FairShares {
  let now = 0;
  const made = new FairShares(
    () => now,
    (run) => run(),
  );
  for (let n = 0; n < 200; n += 1) {
    const one = made.begin('another');
    now += 50;
    made.end(one, 1, 1);
  }
  const waiting: ReturnType<FairShares['begin']>[] = [];
  for (let n = 0; n < 600; n += 1) {
    now += 5;
    try {
      waiting.push(made.begin(tenant));
    } catch {
      return made;
    }
    if (waiting.length <= 140) continue;
    const [first] = waiting.splice(0, 1);
    if (first) made.end(first, 1, 1);
  }
  return made;
}

function requestsOf({ app }: TestApp, by: FairShares): IngestionRequests {
  return new IngestionRequests(
    app.get(CredentialResolver, { strict: false }),
    app.get(IngestionService, { strict: false }),
    app.get(BatchService, { strict: false }),
    app.get(Refusals, { strict: false }),
    by,
  );
}

function callerOf(organizationId: string): Caller {
  const { port } = server.address() as AddressInfo;
  const key = core.app.registry.key({ organizationId, permissions: ['core.events.write'] });
  return new Caller(`http://127.0.0.1:${port}`, key);
}

it.each([
  ['/v1/core/track', () => aTrack()],
  ['/v1/core/batch', () => ({ events: [aTrack()] })],
])('%s: 503 overloaded to who sends more than its share, and 202 to others', async (path, body) => {
  const told = jest.spyOn(log, 'warn').mockClear();
  const answer = await callerOf(large).post(path, body());
  expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body).toMatchObject({ correlation_id: answer.headers.get('x-correlation-id') });
  // It tells of many as of one.
  expect(told).not.toHaveBeenCalled();
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect((await callerOf(small).post(path, body())).status).toBe(202);
});

it.each([
  ['/v1/core/track', aTrack(), 1, 1],
  ['/v1/core/track', {}, 0, 1],
  ['/v1/core/batch', { events: [aTrack(), {}, {}] }, 1, 3],
  ['/v1/core/batch', { events: [{}, {}] }, 0, 2],
  ['/v1/core/batch', { events: Array(501).fill({}) }, 0, 500],
])(
  '%s: what is refused by validation counts for shares, not for times',
  async (path, body, accepted, looked) => {
    const ended = jest.spyOn(shares, 'end').mockClear();
    await callerOf(small).post(path, body);
    expect(ended.mock.calls).toEqual([[expect.anything(), accepted, looked]]);
  },
);

it('refuses before the body is read', async () => {
  // It would be 413.
  const answer = await callerOf(large).post(
    '/v1/core/track',
    aTrack({ properties: { a: 'a'.repeat(40_000) } }),
  );
  expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });
});
