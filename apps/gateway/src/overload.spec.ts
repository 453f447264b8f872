import type { IncomingMessage, ServerResponse } from 'node:http';
import { AddressList } from '@customer-platform/config';
import { type Stage, aGateway, Time } from './gateway.fixture.js';
import { callTo, unfinished, until } from './slow-callers.fixture.js';

let stage: Stage;
let time: Time;
let held: { path: string; answer: () => void }[];
let heard: string[];
afterEach(async () => {
  for (const { answer } of held) answer();
  await stage.close();
});

const EVENTS = '/v1/core/track';

async function start(): Promise<void> {
  time = new Time();
  [held, heard] = [[], []];
  const play = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '';
    heard.push(path);
    request.resume();
    const answer = (): void => void response.writeHead(202).end('{}');
    if (path === EVENTS && request.method === 'POST') held.push({ path, answer });
    else answer();
  };
  const config = { trustedProxies: new AddressList(['127.0.0.1']) };
  stage = await aGateway(play, { config, callers: time.callers });
}

const ask = (path: string, method = 'POST', address = '192.0.2.1'): Promise<Response> =>
  fetch(`${stage.gateway.url}${path}`, {
    method,
    headers: { 'x-forwarded-for': address },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });

/** Has the module answer the eldest. */
async function answerNext(): Promise<void> {
  await until(() => held.length > 0);
  held.shift()?.answer();
}

/** Leaves the module with 150 callers, each of whom waits for long: 128 that it works on. What the first ones were answered. */
async function overload(): Promise<number[]> {
  const statuses: number[] = [];
  const begin = (): void => void ask(EVENTS).then(({ status }) => statuses.push(status));
  begin();
  await answerNext();
  await until(() => statuses.length === 1);
  time.pass(6_000);
  for (let n = 0; n < 150; n += 1) begin();
  await until(() => held.length === 128);
  const { server } = stage.gateway;
  for (let n = 0; n < 8; n += 1) {
    for (let each = 0; each < 6; each += 1) {
      const came = new Promise((resolve) => server.once('request', resolve));
      begin();
      await came;
      const before = statuses.length;
      await answerNext();
      await until(() => statuses.length > before);
    }
    time.pass(100);
  }
  return statuses;
}

const problemOf = async (answer: Response): Promise<unknown[]> => {
  const { code } = (await answer.json()) as { code?: string };
  return [answer.status, code, answer.headers.get('retry-after')];
};
const OVERLOADED = [503, 'overloaded', '1'];

it('refuses at once what an overloaded module would only be slower for, and lets by what must not wait', async () => {
  await start();
  const before = await overload();
  expect(before.slice(0, 30)).toEqual(Array(30).fill(202));
  const known = heard.length;

  const refused = await ask(EVENTS);
  // A page that sends events sees how long to wait.
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  expect(await problemOf(refused)).toEqual(OVERLOADED);
  expect(await problemOf(await ask('/v1/core/contacts', 'GET'))).toEqual(OVERLOADED);
  expect(await problemOf(await ask('/v1/core/events/stream', 'GET'))).toEqual(OVERLOADED);
  const upload = callTo(stage.gateway.url, 'POST /v1/core/batch', '192.0.2.1', unfinished(10, 400_000));
  await until(() => upload.heard.endsWith('}'));
  expect(upload.heard).toMatch(/^HTTP\/1\.1 503 [^]*"code":"overloaded"/);
  upload.socket.destroy();
  // Those that waited for a connection are refused as well.
  await until(() => time.callers.taken.bytes <= 128 * 16);
  expect(heard.length).toBe(known);

  for (const path of ['/v1/core/members/token-exchange', '/oauth/token', '/v1/messaging/unsubscribe'])
    expect((await ask(path)).status).toBe(202);
  // A page asks before it sends; refused, it would see only that the network failed.
  expect((await ask(EVENTS, 'OPTIONS')).status).toBe(202);
  expect((await ask('/v1/crm/notes', 'GET')).status).toBe(202);

  const metrics = await stage.gateway.observed.registry.metrics();
  expect(metrics).toMatch(/^gateway_overloaded_total\{module="core",class="ingestion"\} [1-9]/m);
  expect(metrics).toMatch(/^gateway_overloaded_total\{module="core",class="management"\} 1$/m);
  expect(metrics).toMatch(/^gateway_module_limit\{module="core"\} [1-9]/m);
  expect(metrics).not.toContain('gateway_module_limit{module="crm"}');
});

it('says again by itself what a module says of a credential, for as long as the module says', async () => {
  time = new Time();
  [held, heard] = [[], []];
  const play = (request: IncomingMessage, response: ServerResponse): void => {
    heard.push(request.headers.authorization ?? '');
    const problem = JSON.stringify({ code: 'overloaded' });
    if (request.headers.authorization === 'Bearer many')
      response.writeHead(503, { 'x-refuses-for': '20', 'retry-after': '1' }).end(problem);
    else response.writeHead(202).end('{}');
    request.resume();
  };
  stage = await aGateway(play, { callers: time.callers });
  const by = (authorization: string): Promise<Response> =>
    fetch(`${stage.gateway.url}${EVENTS}`, { method: 'POST', body: '{}', headers: { authorization } });
  const first = await by('Bearer many');
  expect(first.headers.get('x-refuses-for')).toBeNull();
  expect(await problemOf(first)).toEqual(OVERLOADED);
  expect(await problemOf(await by('Bearer many'))).toEqual(OVERLOADED);
  expect((await by('Bearer few')).status).toBe(202);
  expect(heard).toEqual(['Bearer many', 'Bearer few']);
  time.pass(20);
  await by('Bearer many');
  expect(heard).toHaveLength(3);
});

it('takes all again once the module is quick', async () => {
  await start();
  await overload();
  while (held.length > 0) await answerNext();
  for (let n = 0; n < 5; n += 1) {
    const answer = ask(EVENTS);
    await answerNext();
    expect((await answer).status).toBe(202);
    time.pass(1_001);
  }
  expect(await stage.gateway.observed.registry.metrics()).not.toContain(
    'gateway_module_limit{module="core"}',
  );
});
