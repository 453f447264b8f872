import { readdirSync } from 'node:fs';
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { type Stage, aGateway } from './gateway.fixture.js';
import { SlowCallers } from './slow-callers.js';

const AT_ONCE = 50;

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
const HEAD = (method: string, path: string): string => `${method} ${path} HTTP/1.1\r\nHost: a\r\n`;
const MEGABYTES = Buffer.alloc(3 << 20, 'a');

/** What is sent before the connection is broken off: a step of a request each. */
const STEPS: readonly (readonly [string, ...(string | Buffer)[]])[] = [
  ['before the head'],
  ['in the head', 'POST /v1/core/tra'],
  ['after the head', `${HEAD('POST', '/v1/core/track')}Content-Length: 2\r\n\r\n`],
  ['in a small body', `${HEAD('POST', '/oauth/token')}Content-Length: 65536\r\n\r\nab`],
  ['in a chunk', `${HEAD('POST', '/v1/messaging/webhooks/x')}${CHUNKED}5\r\nab`],
  ['in a large body', `${HEAD('POST', '/v1/core/imports')}Content-Length: 9000000\r\n\r\n`, MEGABYTES],
  ['in large chunks', `${HEAD('POST', '/v1/core/imports')}${CHUNKED}900000\r\n`, MEGABYTES],
  ['after the body', `${HEAD('POST', '/v1/core/track')}Content-Length: 2\r\n\r\n{}`],
  ['while its module does not answer', `${HEAD('GET', '/v1/crm/silent')}\r\n`],
  ['in an answer', `${HEAD('GET', '/v1/crm/large')}\r\n`],
  ['in answers one behind the other', `${HEAD('GET', '/v1/crm/large')}\r\n`.repeat(5)],
  ['in an event stream', `${HEAD('GET', '/v1/core/events/stream')}\r\n`],
  ['in the body of an event stream', `${HEAD('GET', '/v1/core/events/stream')}${CHUNKED}1\r\na\r\n`],
  ['in a document', `${HEAD('GET', '/v1/asyncapi.json')}\r\n`.repeat(5)],
  ['in the body to a document', `${HEAD('POST', '/problems')}${CHUNKED}1\r\na\r\n`],
  ['asking for a tunnel', `${HEAD('CONNECT', 'a:1')}\r\n`],
  ['asking for another protocol', `${HEAD('GET', '/v1/core/x')}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
  ['behind what is no HTTP', 'HELLO\r\n\r\n'],
];

/** A module that is silent, or says much, or fails in the middle. */
const module: RequestListener = (request, response: ServerResponse) => {
  request.on('error', () => undefined).resume();
  response.on('error', () => undefined);
  if (request.url === '/v1/crm/silent') return;
  if (request.url === '/v1/crm/large') return void response.end(MEGABYTES);
  if (request.url === '/v1/core/events/stream') return void response.writeHead(200).write(':\n\n');
  if (Math.random() < 0.05) return void request.socket.destroy();
  request.once('end', () => response.end('{}'));
};

/** What one request may leave: each counted in the whole heap, after it has been collected. */
const LEAVINGS = { IncomingMessage, ServerResponse, Socket, Promise };
type Left = Record<keyof typeof LEAVINGS, number>;

function leftNow(): Left {
  const count = (kind: keyof typeof LEAVINGS): number =>
    Number(queryObjects(LEAVINGS[kind], { format: 'count' }));
  return {
    IncomingMessage: count('IncomingMessage'),
    ServerResponse: count('ServerResponse'),
    Socket: count('Socket'),
    Promise: count('Promise'),
  };
}

const descriptors = (): number => readdirSync('/proc/self/fd').length;

let stage: Stage;
const callers = new SlowCallers();
const start = async (): Promise<void> => {
  stage = await aGateway(module, { callers, connections: 8, longestQueue: 100, lasting: 8 });
};
/** One request as far as its step goes; broken off by a reset, or an end, some turns of the loop later. */
async function breakOff(pieces: readonly (string | Buffer)[], n: number): Promise<void> {
  const { hostname, port } = new URL(stage.gateway.url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  if (n % 3 === 0) socket.resume();
  for (const piece of pieces) socket.write(piece);
  for (let turns = n % 11; turns > 0; turns -= 1) await turn();
  if (socket.connecting) await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  if (n % 2 === 0) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

async function breakAll(count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next;
      next += 1;
      const [, ...pieces] = STEPS[n % STEPS.length] ?? [''];
      await breakOff(pieces, Math.floor(n / STEPS.length));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Nothing of the broken ones is left: no connection from callers, nothing counted. */
async function nothingStays(): Promise<void> {
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) =>
      stage.gateway.server.getConnections((error, found) => (error ? reject(error) : resolve(found))),
    );
  const deadline = Date.now() + 20_000;
  while ((await connections()) > 0 || callers.taken.waits > 0 || callers.taken.bytes > 0) {
    if (Date.now() > deadline)
      throw new Error(`${await connections()} connections, ${JSON.stringify(callers.taken)}`);
    await turn();
  }
}

/**
 * Breaks off so many requests, at every step in turn.
 * @param heap whether all objects are counted, which takes a quarter of a minute for each kind in a process of many specs
 */
export function requestsThatAreBrokenOff(count: number, { heap }: { heap: boolean }): void {
  afterEach(() => stage.close());

  it('end no process, and leave no connection, no descriptor, no promise and no memory', async () => {
    await start();
    await breakAll(STEPS.length * 4);
    await nothingStays();
    const open = descriptors();
    const before = heap ? leftNow() : undefined;
    await breakAll(count);
    await nothingStays();
    const answer = await fetch(`${stage.gateway.url}/v1/core/contacts`);
    expect([200, 503]).toContain(answer.status);
    expect(descriptors() - open).toBeLessThan(50);
    if (before === undefined) return;
    // Connections to modules are kept for a while: no more than there may be, whatever the number of requests.
    const more = Object.entries(leftNow()).map(
      ([kind, has]) => [kind, has - before[kind as keyof Left]] as const,
    );
    expect(more.filter(([, left]) => left > count / 10)).toEqual([]);
  }, 600_000);

  it('while their module is started anew and while the gateway drains end nothing but themselves', async () => {
    await start();
    const breaking = breakAll(Math.ceil(count / 4));
    for (let n = 0; n < 20; n += 1) {
      stage.upstream.closeAllConnections();
      for (let turns = 0; turns < 20; turns += 1) await turn();
    }
    await breaking;
    stage.gateway.drain();
    await breakAll(Math.ceil(count / 4));
    await nothingStays();
    expect((await fetch(`${stage.gateway.url}/problems`)).status).toBe(200);
  }, 600_000);
}
