import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type Stage, aGateway, raw } from './gateway.fixture.js';
import { PATIENCE } from './upstream.js';

interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
}

let stage: Stage;
afterEach(() => stage.close());

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  request.resume();
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers }));
  });
};

describe('passing a request on', () => {
  it('keeps method, target and query, and streams the body unchanged', async () => {
    const digests: string[] = [];
    stage = await aGateway((request, response) => {
      const hash = createHash('sha256');
      request.on('data', (chunk: Buffer) => hash.update(chunk));
      request.on('end', () => {
        digests.push(hash.digest('hex'));
        response.end(`${request.method} ${request.url}`);
      });
    });
    for (const size of [0, 1, 70_000, 20_000_000]) {
      const body = randomBytes(size);
      const answer = await fetch(`${stage.gateway.url}/v1/core/track?a=%2C%25&b`, { method: 'POST', body });
      expect(await answer.text()).toBe('POST /v1/core/track?a=%2C%25&b');
      expect(digests.pop()).toBe(createHash('sha256').update(body).digest('hex'));
    }
  });

  it('passes a chunked upload and a large answer through', async () => {
    const megabyte = Buffer.alloc(1 << 20, 7);
    stage = await aGateway((request, response) => {
      request.pipe(response);
    });
    let sent = 0;
    const source = Readable.from(
      (function* () {
        for (; sent < 50; sent += 1) yield megabyte;
      })(),
    );
    const answer = await fetch(`${stage.gateway.url}/v1/core/imports`, {
      method: 'POST',
      body: Readable.toWeb(source) as ReadableStream,
      duplex: 'half',
    });
    let received = 0;
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) received += chunk.length;
    expect(received).toBe(50 << 20);
  });

  it('strips what belongs to one connection, both ways, and what only the edge may say', async () => {
    stage = await aGateway((request, response) => {
      response.setHeader('connection', 'x-hop');
      response.setHeader('x-hop', '1');
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      echo(request, response);
    });
    const text = await raw(
      stage.gateway.url,
      'GET /v1/core/events HTTP/1.1\r\nHost: api.test\r\nConnection: close, x-mine\r\nX-Mine: 1\r\nTE: trailers\r\n' +
        'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.test\r\nForwarded: for=6.6.6.6\r\nX-Timeline-Parts: {}\r\nX-Kept: yes\r\nAuthorization: Bearer t\r\n\r\n',
    );
    const seen = (JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Echo).headers;
    expect(seen).toMatchObject({
      'x-kept': 'yes',
      authorization: 'Bearer t',
    });
    expect(seen['x-forwarded-host']).toBe('platform.test');
    expect(seen['x-forwarded-for']).toBe('127.0.0.1');
    expect(seen['x-forwarded-proto']).toBe('http');
    expect(seen).not.toHaveProperty('x-mine');
    expect(seen).not.toHaveProperty('te');
    expect(seen).not.toHaveProperty('forwarded');
    expect(seen).not.toHaveProperty('x-timeline-parts');
    expect(text).not.toMatch(/strict-transport-security/i);
    expect(text).not.toMatch(/^x-hop:/im);
    expect(text.match(/^set-cookie:/gim)).toHaveLength(2);
  });

  it('forwards the caller’s correlation id if it is a UUID and makes one otherwise', async () => {
    stage = await aGateway(echo);
    const mine = randomUUID();
    for (const [given, expected] of [
      [mine, mine],
      ['not-a-uuid', undefined],
    ] as const) {
      const answer = await fetch(`${stage.gateway.url}/v1/crm/notes`, {
        headers: { 'x-correlation-id': given },
      });
      const seen = ((await answer.json()) as Echo).headers['x-correlation-id'];
      if (expected === undefined) expect(seen).toMatch(/^[0-9a-f-]{36}$/);
      else expect(seen).toBe(expected);
      expect(seen).not.toBe('not-a-uuid');
    }
  });
});

describe('what the gateway refuses itself', () => {
  beforeEach(async () => {
    stage = await aGateway((_request, response) => void response.end('REACHED'));
  });

  it.each([
    '/internal/authz/resolve',
    '/v1/core/../internal/authz/resolve',
    '/v1/core/%2e%2e/internal/x',
    '/v1/core/%2E./internal/x',
    '/v1/core/..%2finternal/x',
    '//internal/x',
    '/v1/core//internal',
    '/v1/corex/track',
    '/v1/core',
    '/v2/core/track',
    '/health/live',
    '/metrics',
    '/openapi.json',
    '/problems/no_such_code',
    '/problems/constructor',
  ])('404 route_not_found for %s', async (target) => {
    const text = await raw(
      stage.gateway.url,
      `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toContain('application/problem+json');
    expect(text).toContain('"code":"route_not_found"');
  });

  const head = 'POST /v1/core/track HTTP/1.1\r\nHost: a\r\n';
  it.each([
    [
      'two framings',
      `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/core/x HTTP/1.1\r\n\r\n`,
    ],
    ['an encoding other than chunked', `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['two hosts', `${head}Host: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`],
    ['two lengths', `${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`],
    ['a signed length', `${head}Content-Length: +4\r\n\r\nabcd`],
    [
      'a folded header',
      `${head}X: a\r\n b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`.replace(
        'X: a',
        'Transfer-Encoding:\r\n chunked',
      ),
    ],
    ['an absolute target', 'GET http://internal/x HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a backslash', 'GET /v1/core/\\internal HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a broken escape', 'GET /v1/core/%zz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('400 malformed_request for %s, and the connection ends', async (_name, bytes) => {
    const text = await raw(stage.gateway.url, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"malformed_request"');
    expect(text).not.toContain('REACHED');
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it.each([
    ['414 uri_too_long', `GET /v1/core/${'a'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['431 headers_too_large', `GET /v1/core/events HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['405 method_not_allowed', 'CONNECT core:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('%s', async (expected, bytes) => {
    const [status, code] = expected.split(' ');
    const text = await raw(stage.gateway.url, bytes);
    expect(text.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    expect(text).toContain(`"code":"${code}"`);
    expect(text).toMatch(/^x-correlation-id: [0-9a-f-]{36}\r$/im);
  });

  it('405 with Allow for a write to one of its own documents', async () => {
    const answer = await fetch(`${stage.gateway.url}/v1/openapi.json`, { method: 'POST', body: 'x' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await answer.json()).toMatchObject({ code: 'method_not_allowed', instance: '/v1/openapi.json' });
  });
});

describe('a module that fails', () => {
  const patience = { ...PATIENCE, connect: 200, headers: 300, body: 300 };

  it('503 dependency_unavailable with Retry-After when nothing listens', async () => {
    stage = await aGateway(echo);
    stage.upstream.closeAllConnections();
    await new Promise((resolve) => stage.upstream.close(resolve));
    const answer = await fetch(`${stage.gateway.url}/v1/core/track`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    const body = await answer.text();
    expect(JSON.parse(body)).toMatchObject({ code: 'dependency_unavailable', status: 503 });
    expect(body).not.toMatch(/127\.0\.0\.1|ECONN/);
  });

  it('504 upstream_timeout when it does not begin to answer', async () => {
    stage = await aGateway(() => undefined, { patience });
    const answer = await fetch(`${stage.gateway.url}/v1/core/events`);
    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({ code: 'upstream_timeout' });
  });

  it('never sends a POST twice, and a GET once more at most, when the connection breaks before an answer', async () => {
    const seen: string[] = [];
    stage = await aGateway((request) => {
      seen.push(request.method ?? '');
      request.socket.destroy();
    });
    const post = await fetch(`${stage.gateway.url}/v1/core/track`, { method: 'POST', body: '{}' });
    expect(post.status).toBe(503);
    expect(seen).toEqual(['POST']);
    const get = await fetch(`${stage.gateway.url}/v1/core/events`);
    expect(get.status).toBe(503);
    expect(seen).toEqual(['POST', 'GET', 'GET']);
  });

  it('cuts the caller’s connection when it breaks in the middle of an answer', async () => {
    stage = await aGateway((request, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('half');
      setImmediate(() => request.socket.destroy());
    });
    const answer = await fetch(`${stage.gateway.url}/v1/core/events`);
    await expect(answer.text()).rejects.toThrow();
  });

  it('lets go of the module when the caller has gone', async () => {
    const gone = new Promise<void>((resolve) => {
      void aGateway((_request, response) => {
        response.on('close', resolve);
      }).then((made) => {
        stage = made;
        const abort = new AbortController();
        void Promise.allSettled([fetch(`${made.gateway.url}/v1/core/events`, { signal: abort.signal })]);
        made.upstream.once('request', () => abort.abort());
      });
    });
    await gone;
    const answer = await fetch(`${stage.gateway.url}/problems`);
    expect(answer.status).toBe(200);
  });
});

describe('its own documents', () => {
  const documents: Record<string, unknown> = {
    '/openapi.json': {
      openapi: '3.1.0',
      info: {},
      paths: { '/v1/x': { get: {} } },
      components: { schemas: { A: { type: 'string' } } },
    },
  };

  it('merges the modules’ OpenAPI, and serves problem pages and the landing page', async () => {
    stage = await aGateway((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(documents[request.url ?? '']));
    });
    const merged = (await (await fetch(`${stage.gateway.url}/v1/openapi.json`)).json()) as Record<
      string,
      unknown
    >;
    expect(merged).toMatchObject({ openapi: '3.1.0', paths: { '/v1/x': { get: {} } } });
    expect(merged).not.toHaveProperty('x-missing-modules');
    for (const path of ['/', '/problems', '/problems/rate_limited', '/v1/asyncapi.json']) {
      const answer = await fetch(stage.gateway.url + path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect((await answer.text()).length).toBeGreaterThan(200);
    }
  });

  it('names the modules that it could not ask', async () => {
    stage = await aGateway((_request, response) => void response.writeHead(500).end());
    const merged = (await (await fetch(`${stage.gateway.url}/v1/openapi.json`)).json()) as Record<
      string,
      unknown
    >;
    expect(merged['x-missing-modules']).toEqual(['core', 'crm', 'identity', 'messaging', 'loyalty']);
  });
});

describe('stopping', () => {
  it('still answers while it drains, and ends each kept connection with its answer', async () => {
    stage = await aGateway((_request, response) => response.end('done'));
    const before = await fetch(`${stage.gateway.url}/v1/core/events`);
    expect([await before.text(), before.headers.get('connection')]).toEqual(['done', 'keep-alive']);
    stage.gateway.drain();
    const during = await fetch(`${stage.gateway.url}/v1/core/events`);
    expect([await during.text(), during.headers.get('connection')]).toEqual(['done', 'close']);
  });

  it('finishes what it has begun and takes nothing new', async () => {
    let release: () => void = () => undefined;
    stage = await aGateway((_request, response) => {
      release = () => response.end('done');
    });
    const running = fetch(`${stage.gateway.url}/v1/core/events`);
    await new Promise((resolve) => stage.upstream.once('request', resolve));
    const closing = stage.gateway.close();
    await expect(fetch(`${stage.gateway.url}/v1/core/events`)).rejects.toThrow();
    release();
    const answer = await running;
    expect(await answer.text()).toBe('done');
    expect(answer.headers.get('connection')).toBe('close');
    await closing;
  });
});
