import { createServer, type Server } from 'node:http';
import { CredentialResolver } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
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

/** Shares of a core at which forty requests of that tenant wait for a fifth of a second each, beside a few of others. */
function overloadedBy(tenant: string): FairShares {
  let now = 0;
  const made = new FairShares(
    () => now,
    (run) => run(),
  );
  for (let n = 0; n < 200; n += 1) {
    const one = made.begin('another');
    now += 50;
    made.end(one, 1);
  }
  const waiting: ReturnType<FairShares['begin']>[] = [];
  for (let n = 0; n < 600; n += 1) {
    now += 5;
    try {
      waiting.push(made.begin(tenant));
    } catch {
      return made;
    }
    if (waiting.length <= 40) continue;
    const [first] = waiting.splice(0, 1);
    if (first) made.end(first, 1);
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
  const answer = await callerOf(large).post(path, body());
  expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect((await callerOf(small).post(path, body())).status).toBe(202);
});

it('refuses before the body is read', async () => {
  // It would be 413.
  const answer = await callerOf(large).post(
    '/v1/core/track',
    aTrack({ properties: { a: 'a'.repeat(40_000) } }),
  );
  expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });
});
