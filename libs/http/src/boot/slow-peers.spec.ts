import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
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
/** The connection that came last, as the server has it. */
let serverSide: Socket;
/** More than any system takes for a peer; of three there is no room for what is left. */
const ANSWER = 40 << 20;
const ROOM = 2.5 * ANSWER;
const LARGE = Buffer.alloc(ANSWER);
/** Whether answers come in pieces, and have no end. */
let isEndless: boolean;
function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 << 10);
}
const CLASSES: Readonly<Record<string, BodyClass>> = { '/file': 'file', '/event': 'event' };
const classOf = ({ url = '' }: IncomingMessage): BodyClass => CLASSES[url] ?? 'ordinary';
const peers = new SlowPeers(
  { ofBody: classOf, ofAnswer: classOf },
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
  [slow, received, isEndless] = [[], 0, false];
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    peers.begin(request, response, now);
    response.once('close', () => peers.end(response, now));
    request
      .on('error', () => undefined)
      .once('end', () => {
        if (isEndless) Readable.from(endless()).pipe(response);
        else response.end(LARGE);
      });
    if (request.url === '/unread') return;
    if (request.url === '/refused') return void response.end('refused');
    request.on('data', (chunk: Buffer) => (received += chunk.length));
  });
  server.on('connection', (socket: Socket) => (serverSide = socket));
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

it('a body that was answered before all of it was here is given ten seconds', async () => {
  const socket = await begin('/refused');
  await once(socket, 'data');
  const drip = async (): Promise<void> => {
    const before = serverSide.bytesRead;
    socket.write('a');
    while (serverSide.bytesRead === before) await turn();
  };
  await drip();
  pass(10);
  await drip();
  expect(serverSide.destroyed).toBe(false);
  pass(1);
  expect(serverSide.destroyed).toBe(true);
  expect(slow).toEqual([]);
});

describe('an answer that is hardly taken', () => {
  /** A client that sends all and reads nothing, until its system takes no more. */
  async function deaf(path = '/json'): Promise<Socket> {
    const socket = await begin(path);
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

  /** Reads so long that the other side writes some more. */
  async function takeSome(socket: Socket): Promise<void> {
    const before = serverSide.bytesWritten - serverSide.writableLength;
    socket.resume();
    while (serverSide.bytesWritten - serverSide.writableLength === before && !serverSide.destroyed)
      await turn();
    socket.pause();
    while (serverSide.writableLength === 0 && !serverSide.destroyed) await turn();
  }

  it('is cut off after its time where nothing of it is taken, a file like all', async () => {
    for (const path of ['/json', '/file']) {
      const socket = await deaf(path);
      for (let n = 0; n < 32; n += 1) pass(10);
      expect(await takenBy(socket)).toBeLessThan(ANSWER);
    }
  });

  it.each(['/event', '/json', '/file'])(
    '%s: has the time of its class, though a little is taken',
    async (path) => {
      isEndless = true;
      const socket = await deaf(path);
      const began = now;
      while (!serverSide.destroyed && now - began < 400_000) {
        await takeSome(socket);
        pass(10);
      }
      const ends: Readonly<Record<string, number>> = { '/event': 80_000, '/json': 200_000, '/file': 400_000 };
      expect(now - began).toBe(ends[path]);
    },
  );

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
