import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AddressList } from '@customer-platform/config';
import { type Stage, aGateway, Time } from './gateway.fixture.js';
import { type Caller, callTo, unfinished, until } from './slow-callers.fixture.js';

const MIB = 1 << 20;
const SLOW = 'POST /v1/crm/notes';
const QUICK = 'POST /v1/core/track';
const UPLOAD = 'POST /v1/core/imports';
let stage: Stage;
let time: Time;
let callers: Caller[];
/** Answers of modules that have read their request, in this order. */
let waiting: ServerResponse[];

/** Modules that answer when they are told to, one route at once; uploads are read from the second on. */
async function start(bytes: number, connections = 128): Promise<void> {
  [waiting, callers] = [[], []];
  time = new Time({ bytes });
  let uploads = 0;
  const play = (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => undefined);
    const target = `${request.method ?? ''} ${request.url ?? ''}`;
    if (target === UPLOAD && (uploads += 1) === 1) return void waiting.push(response);
    request.resume().once('end', () => {
      if (target === QUICK) response.end('answered');
      else waiting.push(response);
    });
  };
  const config = { trustedProxies: new AddressList(['127.0.0.1']) };
  stage = await aGateway(play, { config, connections, callers: time.callers });
}
afterEach(async () => {
  for (const { socket } of callers) socket.destroy();
  await until(() => time.callers.taken.bytes === 0);
  await stage.close();
});

function call(target: string, address: string, body: Buffer): Caller {
  const caller = callTo(stage.gateway.url, target, address, body);
  callers.push(caller);
  return caller;
}

/** Sends a body whole; the gateway has all of it then. */
async function send(target: string, address: string, bytes: number): Promise<Caller> {
  const received = once(stage.gateway.server, 'request');
  const caller = call(target, address, unfinished(bytes, bytes));
  const [request] = (await received) as [IncomingMessage];
  await until(() => request.complete);
  return caller;
}

const isRefused = ({ heard }: Caller): boolean =>
  heard.startsWith('HTTP/1.1 503 ') && heard.includes('"code":"dependency_unavailable"');
const isAnswered = ({ heard }: Caller): boolean => /^HTTP\/1\.1 200 [^]*answered$/.test(heard);
const answerAll = (): void => {
  for (const response of waiting) response.end('answered');
};

it('leave half of the room to bodies for other modules, whoever sends those', async () => {
  await start(300_000);
  const slow: Caller[] = [];
  for (let n = 0; n < 6; n += 1) slow.push(await send(SLOW, '192.0.2.1', 40_000));
  await until(() => slow.filter(isRefused).length === 3);
  for (const address of ['192.0.2.1', '203.0.113.9']) {
    const quick = await send(QUICK, address, 90_000);
    await until(() => isAnswered(quick));
  }
  await until(() => waiting.length === 3);
  answerAll();
  await until(() => slow.filter(isAnswered).length === 3);
});

it('give way by network: the last of the one that has most, so that others reach the same module', async () => {
  await start(300_000);
  const many: Caller[] = [];
  for (let n = 0; n < 3; n += 1) many.push(await send(SLOW, '192.0.2.1', 40_000));
  await until(() => waiting.length === 3);
  const other = await send(SLOW, '203.0.113.9', 40_000);
  await until(() => waiting.length === 4);
  await until(() => many.some(isRefused));
  expect(many.map(isRefused)).toEqual([false, false, true]);
  answerAll();
  await until(() => [...many.slice(0, 2), other].every(isAnswered));
});

it('give way where all the room is taken, behind what waits for the callers of their network', async () => {
  await start(300_000);
  const whole: Caller[] = [];
  for (let n = 0; n < 3; n += 1) whole.push(await send(SLOW, '192.0.2.1', 45_000));
  await until(() => waiting.length === 3);
  const own = call(QUICK, '192.0.2.1', unfinished(60_000));
  call(QUICK, '198.51.100.1', unfinished(60_000));
  await until(() => time.callers.taken.bytes > 250_000);
  const first = call(QUICK, '203.0.113.9', unfinished(65_000));
  await until(() => isRefused(own));
  await time.still();
  expect(whole.filter(isRefused)).toEqual([]);
  const second = call(QUICK, '203.0.114.9', unfinished(45_000));
  await until(() => whole.some(isRefused));
  expect(whole.map(isRefused)).toEqual([false, false, true]);
  for (const caller of [first, second]) {
    caller.socket.write('a');
    await until(() => isAnswered(caller));
  }
});

it('are no slow callers’, however long their module takes', async () => {
  await start(300_000);
  const caller = await send(SLOW, '192.0.2.1', 40_000);
  await until(() => waiting.length === 1);
  for (let n = 0; n < 20; n += 1) time.pass(10_001);
  expect([caller.heard, time.callers.taken]).toEqual(['', { waits: 0, bytes: 40_000 }]);
  answerAll();
  await until(() => isAnswered(caller));
});

it('are the beginnings of uploads as well, as long as they wait for a connection', async () => {
  await start(5 * MIB, 1);
  const chunked = Buffer.concat([
    Buffer.from(`Transfer-Encoding: chunked\r\n\r\n${(2 * MIB).toString(16)}\r\n`),
    Buffer.alloc(2 * MIB, 'a'),
  ]);
  call(UPLOAD, '192.0.2.1', chunked);
  await until(() => waiting.length === 1);
  const queued = call(UPLOAD, '192.0.2.1', chunked);
  await until(() => time.callers.taken.bytes > MIB);
  await time.still();
  const others = [1, 2, 3, 4].map((n) => call(QUICK, `203.0.${n}.9`, unfinished(MIB - 100)));
  await until(() => isRefused(queued));
  for (const caller of others) {
    caller.socket.write('a');
    await until(() => isAnswered(caller));
  }
});

it('an upload that is all here is no slow caller’s either', async () => {
  await start(64 * MIB);
  call(UPLOAD, '192.0.2.1', unfinished(2 * MIB, 3 * MIB));
  const upload = call(UPLOAD, '192.0.2.1', unfinished(2 * MIB, 2 * MIB));
  await until(() => waiting.length === 2);
  for (let n = 0; n < 10; n += 1) time.pass(10_001);
  answerAll();
  await until(() => isAnswered(upload));
});
