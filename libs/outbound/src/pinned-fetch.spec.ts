import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { HOSTILE_LITERALS, MALFORMED } from '@customer-platform/testing';
import type { ResolveHost } from './host-resolver.js';
import { OutboundError, pinnedFetch, type PinnedFetchInit, type PinnedFetchOptions } from './pinned-fetch.js';

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const PUBLIC = { address: '93.184.215.14', family: 4 };
const MOST = 4_096;

interface Seen {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe('pinnedFetch', () => {
  let server: Server;
  let base: string;
  let port: number;
  let seen: Seen[];
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { method, url: path, headers } = request;
        seen.push({ method, path, headers, body });
        answer(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    base = `http://127.0.0.1:${port}`;
  });
  beforeEach(() => {
    seen = [];
    answer = (response) => response.setHeader('content-type', 'application/json').end('{"a":"ñ"}');
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  function get(
    url: string,
    options: Partial<PinnedFetchOptions> = {},
    init?: PinnedFetchInit,
  ): Promise<Response> {
    const fetch = pinnedFetch({ timeoutMs: 5_000, maxAnswerBytes: MOST, allowLoopback: true, ...options });
    return fetch(url, init);
  }

  const failureOf = (work: Promise<Response>): Promise<string> =>
    work.then(
      ({ status }) => `answered ${status}`,
      (error: unknown) => (error instanceof OutboundError ? error.failure : String(error)),
    );

  it('answers with status, headers and body', async () => {
    answer = (response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('nobody');
    const found = await get(`${base}/a?b=1`, {}, { headers: { accept: 'application/json' } });
    expect([found.status, found.headers.get('content-type'), await found.text()]).toEqual([
      404,
      'text/plain',
      'nobody',
    ]);
    expect(seen[0]).toMatchObject({ method: 'GET', path: '/a?b=1', headers: { accept: 'application/json' } });
  });

  it('posts a form as clients give one', async () => {
    const found = await get(
      `${base}/token`,
      {},
      {
        method: 'POST',
        headers: new Headers({
          'content-type': 'application/x-www-form-urlencoded',
          authorization: 'Basic x',
        }),
        body: new URLSearchParams({ code: 'ñ&=' }),
      },
    );
    expect(await found.json()).toEqual({ a: 'ñ' });
    expect(seen[0]).toMatchObject({
      method: 'POST',
      body: 'code=%C3%B1%26%3D',
      headers: { authorization: 'Basic x', host: `127.0.0.1:${port}`, 'content-length': '17' },
    });
  });

  it('takes an answer that has no body', async () => {
    answer = (response) => response.writeHead(204).end();
    const found = await get(base);
    expect([found.status, await found.text()]).toEqual([204, '']);
  });

  it.each(HOSTILE_LITERALS)('connects nowhere for %s', async (url) => {
    const resolve: ResolveHost = () => Promise.resolve([LOOPBACK]);
    expect(await failureOf(get(url, { allowLoopback: false, resolve }))).toBe('destination_not_allowed');
  });

  it.each(MALFORMED)('takes no %j', async (url) => {
    const resolve: ResolveHost = () => Promise.resolve([LOOPBACK]);
    expect(await failureOf(get(url, { allowLoopback: false, resolve }))).not.toMatch(/^answered/);
    expect(seen).toEqual([]);
  });

  it('speaks http to this machine alone, and in local mode only', async () => {
    const resolve: ResolveHost = () => Promise.resolve([PUBLIC]);
    expect(await failureOf(get(base, { allowLoopback: false }))).toBe('not_https');
    expect(await failureOf(get('http://idp.example/', { resolve }))).toBe('not_https');
    expect(await failureOf(get(base))).toBe('answered 200');
  });

  it('asks the name once and connects to no later answer of it', async () => {
    let asked = 0;
    const resolve: ResolveHost = () => Promise.resolve([(asked += 1) === 1 ? PUBLIC : LOOPBACK]);
    const rebound = await failureOf(get(`https://idp.example:${port}/`, { resolve, timeoutMs: 300 }));
    expect(rebound).toMatch(/^(timeout|connection_failed)$/);
    expect(asked).toBe(1);
    const mixed: ResolveHost = () => Promise.resolve([PUBLIC, LOOPBACK]);
    expect(
      await failureOf(get(`https://idp.example:${port}/`, { allowLoopback: false, resolve: mixed })),
    ).toBe('destination_not_allowed');
    expect(seen).toEqual([]);
  });

  it('follows no redirect, whatever it is told', async () => {
    answer = (response) => response.writeHead(302, { location: `${base}/elsewhere` }).end();
    const found = await get(`${base}/in`, {}, { redirect: 'follow' });
    expect(found.status).toBe(302);
    expect(seen.map(({ path }) => path)).toEqual(['/in']);
  });

  it('reads no more than the bound, told beforehand or found out', async () => {
    answer = (response) => response.end('x'.repeat(MOST));
    expect(await failureOf(get(base))).toBe('answered 200');
    answer = (response) => response.setHeader('content-length', 1e9).write('x');
    expect(await failureOf(get(base))).toBe('answer_too_large');
    answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_024)));
      };
      response.on('drain', more);
      more();
    };
    expect(await failureOf(get(base))).toBe('answer_too_large');
  });

  it('unpacks nothing', async () => {
    answer = (response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(1_000_000)));
    expect(await failureOf(get(base))).toBe('answer_encoded');
    expect(seen[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('gives up in time: on a name, on an answer, in the middle of one, or when its caller does', async () => {
    const never = new Promise<never>(() => undefined);
    expect(await failureOf(get('https://slow.example/', { timeoutMs: 50, resolve: () => never }))).toBe(
      'timeout',
    );
    answer = () => undefined;
    expect(await failureOf(get(base, { timeoutMs: 200 }))).toBe('timeout');
    answer = (response) => response.write('{"half":');
    expect(await failureOf(get(base, { timeoutMs: 200 }))).toBe('timeout');
    answer = () => undefined;
    expect(await failureOf(get(base, {}, { signal: AbortSignal.timeout(50) }))).toBe('timeout');
  });

  it('tells an answer that breaks off from a whole one', async () => {
    answer = (response) => {
      response.setHeader('content-length', 100).write('x', () => response.destroy());
    };
    expect(await failureOf(get(base))).toBe('connection_failed');
    answer = (response) => response.socket?.write('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n');
    expect(await failureOf(get(base))).toBe('connection_failed');
  });
});
