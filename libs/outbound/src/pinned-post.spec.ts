import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { HOSTILE_LITERALS, TEST_CERTIFICATE } from '@customer-platform/testing';
import type { ResolveHost } from './host-resolver.js';
import { postPinned, type PostAnswer } from './pinned-post.js';

/** A public address nobody may connect to from a test. */
const PUBLIC = { address: '93.184.215.14', family: 4 };
const LOOPBACK = { address: '127.0.0.1', family: 4 };

describe('postPinned', () => {
  let server: Server;
  let port: number;
  let requests: { host: string | undefined; body: string; path: string | undefined }[];
  let connections: number;
  let answer: (socket: Socket, respond: (status: number, headers?: Record<string, string>) => void) => void;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        requests.push({ host: request.headers.host, body, path: request.url });
        answer(request.socket, (status, headers) =>
          response.writeHead(status, headers).end('x'.repeat(1_000)),
        );
      });
    });
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    requests = [];
    connections = 0;
    answer = (_socket, respond) => respond(200);
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  function post(
    url: string,
    {
      local = false,
      timeoutMs = 5_000,
      resolve,
    }: { local?: boolean; timeoutMs?: number; resolve?: ResolveHost } = {},
  ): Promise<PostAnswer> {
    const given = {
      url: new URL(url),
      headers: { 'x-test': '1' },
      body: '{"a":"ñ"}',
      timeoutMs,
      allowLoopback: local,
      ports: [port],
    };
    return postPinned(given, resolve ?? (() => Promise.reject(new Error('no name is to be asked for'))));
  }

  it('asks nobody for a host whose port is not called', async () => {
    const asked: string[] = [];
    const resolve: ResolveHost = (host) => {
      asked.push(host);
      return Promise.resolve([PUBLIC]);
    };
    expect(await post('https://hooks.example:6379/', { resolve })).toEqual({
      failure: 'destination_not_allowed',
    });
    expect(asked).toEqual([]);
  });

  it('knows at least 60 hostile addresses', () => {
    expect(new Set(HOSTILE_LITERALS).size).toBeGreaterThanOrEqual(60);
  });

  it.each(HOSTILE_LITERALS)('connects nowhere for %s', async (url) => {
    const resolve: ResolveHost = () => Promise.resolve([LOOPBACK]);
    expect(await post(url, { resolve })).toEqual({ failure: 'destination_not_allowed' });
  });

  it('reaches nothing on this machine at the port that listens either', async () => {
    for (const url of HOSTILE_LITERALS) {
      const there = new URL(url.replace('https:', 'http:'));
      there.port = String(port);
      await post(there.href, { resolve: () => Promise.resolve([LOOPBACK]) });
    }
    expect(connections).toBe(0);
  });

  it('connects to the address it has checked and to no later answer of the name', async () => {
    let asked = 0;
    const resolve: ResolveHost = () => Promise.resolve([(asked += 1) === 1 ? LOOPBACK : PUBLIC]);
    expect(await post(`http://hooks.example:${port}/in?a=1`, { local: true, resolve })).toEqual({
      status: 200,
      retryAfter: undefined,
    });
    expect(asked).toBe(1);
    expect(requests).toEqual([{ host: `hooks.example:${port}`, body: '{"a":"ñ"}', path: '/in?a=1' }]);
  });

  it('connects nowhere once a name rebinds, mixes in or turns out to be a private address', async () => {
    const answers = [
      [LOOPBACK],
      [PUBLIC, LOOPBACK],
      [PUBLIC, { address: '::ffff:127.0.0.1', family: 6 }],
      [],
    ];
    for (const addresses of answers) {
      const found = await post(`http://rebind.example:${port}/`, {
        resolve: () => Promise.resolve(addresses),
      });
      expect(found).toEqual({ failure: 'destination_not_allowed' });
    }
    const failing = await post(`http://later.example:${port}/`);
    expect(failing).toEqual({ failure: 'name_not_resolved' });
    const thenPrivate = await post(`http://later.example:${port}/`, {
      resolve: () => Promise.resolve([LOOPBACK]),
    });
    expect(thenPrivate).toEqual({ failure: 'destination_not_allowed' });
    expect(connections).toBe(0);
  });

  it('follows no redirect', async () => {
    answer = (_socket, respond) => respond(302, { location: `http://127.0.0.1:${port}/elsewhere` });
    expect(await post(`http://127.0.0.1:${port}/in`, { local: true })).toMatchObject({ status: 302 });
    expect(requests.map(({ path }) => path)).toEqual(['/in']);
  });

  it('gives up in time: on a name, on a connection, on an answer', async () => {
    const never = new Promise<never>(() => undefined);
    const named = await post('http://slow.example/', { timeoutMs: 50, resolve: () => never });
    expect(named).toEqual({ failure: 'timeout' });
    answer = () => undefined;
    expect(await post(`http://127.0.0.1:${port}/`, { local: true, timeoutMs: 300 })).toEqual({
      failure: 'timeout',
    });
  });

  it('tells a connection that breaks, one that is refused, and a wish to wait', async () => {
    answer = (socket) => socket.destroy();
    expect(await post(`http://127.0.0.1:${port}/`, { local: true })).toEqual({
      failure: 'connection_failed',
    });
    expect(await post('http://127.0.0.1:9/', { local: true })).toEqual({ failure: 'connection_failed' });
    answer = (_socket, respond) => respond(503, { 'retry-after': '7' });
    expect(await post(`http://127.0.0.1:${port}/`, { local: true })).toEqual({
      status: 503,
      retryAfter: '7',
    });
  });

  it('is not made to read without end', async () => {
    answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', more);
      more();
    };
    expect(await post(`http://127.0.0.1:${port}/`, { local: true })).toMatchObject({ status: 200 });
    answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`);
    expect(await post(`http://127.0.0.1:${port}/`, { local: true })).toEqual({
      failure: 'connection_failed',
    });
  });

  it('trusts no certificate that nobody vouches for', async () => {
    const tls = createTlsServer(TEST_CERTIFICATE, (_request, response) => response.end());
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    try {
      const { port: tlsPort } = tls.address() as AddressInfo;
      expect(
        await post(`https://localhost:${tlsPort}/`, {
          local: true,
          resolve: () => Promise.resolve([LOOPBACK]),
        }),
      ).toEqual({
        failure: 'tls_failed',
      });
    } finally {
      tls.closeAllConnections();
      await new Promise<void>((resolve) => tls.close(() => resolve()));
    }
  });
});
