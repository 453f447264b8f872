import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { AddressList } from '@customer-platform/config';
import { Cursors } from '../lists/cursors.js';
import { readBytes, RequestAborted } from '../reading/read-body.js';
import { FastExpressAdapter } from './fast-express.adapter.js';
import { Listener } from './listener.js';
import { type BodyClass, SlowPeers } from './slow-peers.js';

let server: Server;
let now = 0;
let slow: string[];
let received: number;
/** More than any system takes for a peer; of three there is no room for what is left. */
const ANSWER = 40 << 20;
const ROOM = 2.5 * ANSWER;
const LARGE = Buffer.alloc(ANSWER);
const CLASSES: Readonly<Record<string, BodyClass>> = { '/file': 'file', '/event': 'event' };
const peers = new SlowPeers(
  ({ url = '' }) => CLASSES[url] ?? 'ordinary',
  ({ url = '', socket }) => {
    slow.push(url);
    socket.destroy();
  },
  ROOM,
);
const pass = (seconds: number): void => {
  now += seconds * 1_000;
  peers.look(now);
};

beforeEach(async () => {
  [slow, received] = [[], 0];
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    peers.begin(request, response, now);
    response.once('close', () => peers.end(response));
    request.on('error', () => undefined).once('end', () => response.end(LARGE));
    if (request.url === '/unread') return;
    request.on('data', (chunk: Buffer) => (received += chunk.length));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function begin(path: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const requested = once(server, 'request');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n`);
  await requested;
  return socket;
}

async function send(socket: Socket, bytes: number): Promise<void> {
  const after = received + bytes;
  socket.write(Buffer.alloc(bytes));
  while (received < after) await turn();
}

it('a body that brings too little is let go', async () => {
  const socket = await begin('/json');
  await send(socket, 20_000);
  pass(10);
  await send(socket, 11_000);
  pass(30);
  expect(slow).toEqual([]);
  await send(socket, 9_000);
  pass(10);
  expect(slow).toEqual([]);
  pass(20);
  expect(slow).toEqual(['/json']);
});

it('a body has the time of its class, a file what it takes', async () => {
  const sockets = new Map<string, Socket>();
  for (const path of ['/event', '/json', '/file']) sockets.set(path, await begin(path));
  const left: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    for (const [path, socket] of sockets) if (!slow.includes(path)) await send(socket, 12_000);
    pass(10);
    left.push(slow.join());
  }
  expect([left[0], left[1], left[5], left[6], left.at(-1)]).toEqual([
    '',
    '/event',
    '/event',
    '/event,/json',
    '/event,/json',
  ]);
});

it('a body that is not read yet is no fault of its sender', async () => {
  await begin('/unread');
  for (let n = 0; n < 10; n += 1) pass(30);
  expect(slow).toEqual([]);
});

describe('an answer of which nothing is taken', () => {
  /** A client that sends all and reads nothing, until its system takes no more. */
  async function deaf(): Promise<Socket> {
    const socket = await begin('/json');
    const answered = received + 900_000;
    socket.pause();
    socket.write(Buffer.alloc(900_000));
    while (received < answered) await turn();
    for (let turns = 0; turns < 200; turns += 1) await turn();
    return socket;
  }
  async function takenBy(socket: Socket): Promise<number> {
    let taken = 0;
    socket.on('data', (chunk: Buffer) => (taken += chunk.length)).resume();
    const closed = once(socket, 'close');
    while (taken < ANSWER && !socket.destroyed) await Promise.race([closed, turn()]);
    return taken;
  }

  it('is cut off after its time', async () => {
    const socket = await deaf();
    for (let n = 0; n < 32; n += 1) pass(10);
    expect(await takenBy(socket)).toBeLessThan(ANSWER);
  });

  it('is cut off sooner where all of them hold more than there is room for, and no more of them than that', async () => {
    const sockets = [await deaf(), await deaf(), await deaf()];
    pass(10);
    pass(10);
    const taken: number[] = [];
    for (const socket of sockets) taken.push(await takenBy(socket));
    expect(taken.filter((bytes) => bytes >= ANSWER)).toHaveLength(2);
  });
});

it('a listener answers a body that takes too long with 408, and its handler hears that the caller is gone', async () => {
  const heard = Promise.withResolvers<unknown>();
  const listener = new Listener({
    name: 'public',
    constructors: new FastExpressAdapter().constructors,
    cursors: new Cursors('x'.repeat(32)),
    gatewayAddresses: new AddressList([]),
    handler: (request) => {
      readBytes(request, { body: 'json', bodyLimit: 1_000, gzip: false }).then(heard.resolve, heard.resolve);
    },
  });
  const url = new URL(await listener.listen(0, '127.0.0.1'));
  const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true });
  const requested = once(listener.server, 'request');
  socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na');
  await requested;
  listener.look(performance.now() + 14_000);
  listener.look(performance.now() + 16_000);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
  socket.destroy();
  expect(await heard.promise).toBeInstanceOf(RequestAborted);
  await listener.close(100);
});
