import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { Gauge, register } from 'prom-client';
import { created, gate } from '../../test/things.controller.js';
import { call, problemOf, raw, startThings } from '../../test/things.fixture.js';
import { ThingsModule } from '../../test/things.module.js';
import {
  DRAINABLE,
  registerDependency,
  registerReadiness,
  type Drainable,
  type RunningApp,
} from '../index.js';

let app: RunningApp;
beforeAll(async () => {
  app = await startThings({
    beforeExpress: (request, response) => {
      if (request.url?.split('?')[0] !== '/hot') return false;
      response.writeHead(202).end('hot');
      return true;
    },
  });
});
afterAll(() => app.close());

const things = '/v1/crm/things';
const get = (headers: string, path = things) => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;

describe('what the HTTP parser refuses', () => {
  it.each([
    ['no HTTP', 'HELLO\r\n\r\n', 400, 'malformed_request'],
    ['an unknown method', `BREW ${things} HTTP/1.1\r\nHost: x\r\n\r\n`, 400, 'malformed_request'],
    ['no host', get('Connection: close\r\n'), 400, 'malformed_request'],
    ['two hosts', get('Host: x\r\nConnection: close\r\nHost: y\r\n'), 400, 'malformed_request'],
    ['a header without a name', get('Host: x\r\n: y\r\n'), 400, 'malformed_request'],
    ['a blank before the colon', get('Host: x\r\nX-A : y\r\n'), 400, 'malformed_request'],
    ['two lengths', get('Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n'), 400, 'malformed_request'],
    [
      'a length and chunks',
      get('Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n'),
      400,
      'malformed_request',
    ],
    ['a length that is no number', get('Host: x\r\nContent-Length: 1x\r\n'), 400, 'malformed_request'],
    ['another transfer encoding', get('Host: x\r\nTransfer-Encoding: gzip\r\n'), 400, 'malformed_request'],
    ['large headers', get(`Host: x\r\nX-Large: ${'x'.repeat(30_000)}\r\n`), 431, 'headers_too_large'],
    ['a long target', get('Host: x\r\nConnection: close\r\n', `/${'x'.repeat(9_000)}`), 414, 'uri_too_long'],
    ['a very long target', get('Host: x\r\n', `/${'x'.repeat(40_000)}`), 414, 'uri_too_long'],
    [
      'an absolute target',
      get('Host: x\r\nConnection: close\r\n', `http://x${things}`),
      400,
      'malformed_request',
    ],
  ])('%s is a problem', async (_name, bytes, status, code) => {
    const answer = await raw(app.url, bytes);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
    const problem = problemOf(answer);
    expect(problem).toMatchObject({ status, code, type: `/problems/${code}` });
    expect(answer.toLowerCase()).toContain(`x-correlation-id: ${String(problem['correlation_id'])}`);
  });

  it.each([
    ['no host', get('Connection: close\r\n', '/hot'), 400, 'malformed_request'],
    ['two hosts', get('Host: x\r\nConnection: close\r\nhOST: y\r\n', '/hot'), 400, 'malformed_request'],
    [
      'a long target',
      get('Host: x\r\nConnection: close\r\n', `/hot?${'x'.repeat(9_000)}`),
      414,
      'uri_too_long',
    ],
    ['nothing to refuse', get('Host: x\r\nConnection: close\r\n', '/hot?x=1'), 202, undefined],
  ])('%s is told alike by what answers before Express', async (_name, bytes, status, code) => {
    const answer = await raw(app.url, bytes);
    expect(answer).toContain(`HTTP/1.1 ${String(status)} `);
    expect(code === undefined ? undefined : problemOf(answer)['code']).toBe(code);
  });

  it('a broken chunk in a body is malformed_request, once', async () => {
    const head = `POST ${things} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Type: application/json\r\n`;
    const answer = await raw(app.url, `${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`);
    expect(problemOf(answer)).toMatchObject({ status: 400, code: 'malformed_request' });
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('an expectation nobody knows does not matter', async () => {
    const answer = await raw(app.url, get('Host: x\r\nExpect: tea\r\nConnection: close\r\n', '/health/live'));
    expect(answer).toContain('{"status":"live"}');
  });

  it('100-continue is answered and the body taken', async () => {
    const head = `POST ${things} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Type: application/json\r\n`;
    const answer = await raw(
      app.url,
      `${head}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"name":"x"}`,
    );
    expect(answer).toContain('HTTP/1.1 100 Continue');
    expect(answer).toContain('HTTP/1.1 201 Created');
  });

  it('a caller that goes away while sending leaves the app well, and nothing is made', async () => {
    const { hostname, port } = new URL(app.url);
    const before = created.length;
    const head = `POST ${things} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Type: application/json\r\n`;
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve) =>
      socket.write(`${head}Content-Length: 12\r\n\r\n{"na`, () => resolve()),
    );
    socket.destroy();
    expect((await call(app.url, '/health/live')).status).toBe(200);
    expect(created).toHaveLength(before);
  });

  it('answers pipelined requests in their order', async () => {
    const answer = await raw(
      app.url,
      get('Host: x\r\n', '/health/live') + get('Host: x\r\nConnection: close\r\n', '/nowhere'),
    );
    expect(answer.indexOf('{"status":"live"}')).toBeLessThan(answer.indexOf('route_not_found'));
  });
});

describe('the raw hook', () => {
  it('answers before everything else, and nothing but its path', async () => {
    const hot = await call(app.url, '/hot');
    expect([hot.status, hot.body, hot.headers.get('x-correlation-id')]).toEqual([202, 'hot', null]);
    expect((await call(app.url, '/hot/er')).body.code).toBe('route_not_found');
    expect((await call(app.internalUrl, '/hot')).body.code).toBe('route_not_found');
  });
});

describe('operations', () => {
  it('/health/ready tells which part is missing, and not why', async () => {
    expect((await call(app.url, '/health/ready')).body).toEqual({ status: 'ready', checks: {} });
    const away = registerReadiness({
      name: 'database',
      check: () => Promise.reject(new Error('password authentication failed for user crm_app')),
    });
    const answer = await call(app.url, '/health/ready');
    expect([answer.status, answer.body]).toEqual([
      503,
      { status: 'not_ready', checks: { database: 'failing' } },
    ]);
    away();
    expect((await call(app.url, '/health/ready')).status).toBe(200);
  });

  it('/health/ready stays once a part was there; /metrics tells that it is away', async () => {
    let fails = true;
    const check = (): void => {
      if (fails) throw new Error('away');
    };
    const endings = [
      registerReadiness({ name: 'store', check }),
      registerDependency({ name: 'store', check }),
    ];
    const [status, line] = [
      async () => (await call(app.url, '/health/ready')).status,
      async () =>
        /^dependency_up\{dependency="store"\} (\d)$/m.exec((await call(app.url, '/metrics')).body)?.[1],
    ];
    expect([await status(), await line()]).toEqual([503, '0']);
    fails = false;
    expect([await status(), await line()]).toEqual([200, '1']);
    fails = true;
    expect([await status(), await line()]).toEqual([200, '0']);
    endings.forEach((end) => end());
    expect(await line()).toBeUndefined();
  });

  it('/metrics counts requests by pattern, not by path', async () => {
    await call(app.url, `${things}/01890000-0000-7000-8000-00000000cafe`);
    const { body } = await call(app.url, '/metrics');
    expect(body).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/v1\/crm\/things\/:id",status="200"\} [1-9]/,
    );
    expect(body).toMatch(/route="\/hot",status="202"/);
    expect(body).toContain('process_resident_memory_bytes');
    expect(body).not.toContain('cafe');
  });

  it('a metric that cannot be read is a failed answer, and ends nobody', async () => {
    const collect = (): Promise<never> => Promise.reject(new Error('away'));
    register.registerMetric(new Gauge({ name: 'unreadable', help: 'x', collect, registers: [] }));
    const { status, body } = await call(app.url, '/metrics');
    expect([status, body.code]).toEqual([500, 'internal_error']);
    register.removeSingleMetric('unreadable');
    expect((await call(app.url, '/metrics')).status).toBe(200);
  });

  it('/openapi.json is there when it is committed', async () => {
    expect((await call(app.url, '/openapi.json')).status).toBe(404);
    const described = await startThings({ openApi: new URL('../../package.json', import.meta.url) });
    expect((await call(described.url, '/openapi.json')).body.name).toBe('@customer-platform/http');
    await described.close();
  });
});

describe('the end of an app', () => {
  it('lets requests in flight finish, refuses new ones, and then is gone', async () => {
    const ending = await startThings();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opens = promise;
    const slow = call(ending.url, `${things}/slow`, { token: null });
    const { hostname, port } = new URL(ending.url);
    const kept = connect(Number(port), hostname);
    let received = '';
    kept.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const ended = once(kept, 'close');
    kept.write(get('Host: x\r\n', `${things}/slow`));
    await until(async () => (await call(ending.url, '/metrics')).status === 200);

    ending.drain();
    const notReady = await call(ending.url, '/health/ready');
    expect([notReady.status, notReady.headers.get('connection')]).toEqual([503, 'close']);

    const closed = ending.close();
    kept.write(get('Host: x\r\n', '/health/live'));
    resolve();
    delete gate.opens;
    const answer = await slow;
    expect([answer.status, answer.body]).toEqual([200, { slow: true }]);
    await Promise.all([closed, ended]);
    expect(received).toContain('{"slow":true}');
    await expect(call(ending.url, '/health/live')).rejects.toThrow();
    await expect(call(ending.internalUrl, '/internal/things')).rejects.toThrow();
  });

  it('takes no more work from elsewhere at its first sign, while it still answers requests', async () => {
    const steps: string[] = [];
    const left = Promise.withResolvers<void>();
    @Module({
      imports: [ThingsModule],
      providers: [
        {
          provide: DRAINABLE,
          useValue: { drain: () => left.promise.then(() => void steps.push('left')) } satisfies Drainable,
        },
        {
          provide: 'spec',
          useValue: { onModuleDestroy: () => void steps.push('destroyed') },
        },
      ],
    })
    class Root {}
    const ending = await startThings({ root: Root });
    ending.drain();
    expect((await call(ending.url, '/health/live')).status).toBe(200);
    const closed = ending.close();
    left.resolve();
    await closed;
    expect(steps).toEqual(['left', 'destroyed']);
  });

  it('tells callers to let go of connections that they do not use, sooner than it lets go of them', async () => {
    const live = (headers: string): string => get(`Host: x\r\n${headers}`, '/health/live');
    const answer = await raw(app.url, live('') + live('Connection: close\r\n'));
    expect(answer).toContain('Keep-Alive: timeout=4\r\n');
  });

  it('closing twice is closing once', async () => {
    const ending = await startThings();
    await Promise.all([ending.close(), ending.close()]);
    await ending.close();
    await expect(call(ending.url, '/health/live')).rejects.toThrow();
  });

  it('a request on a connection that is still busy gets shutting_down', async () => {
    const ending = await startThings();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opens = promise;
    const { hostname, port } = new URL(ending.url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const ended = new Promise<void>((done) => socket.once('close', () => done()));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // The head of a request is on its way when the app begins to end; the rest arrives after.
    socket.write('GET /health/live HTTP/1.1\r\n');
    await until(async () => (await connections(ending)) > 0);
    const closed = ending.close();
    socket.write('Host: x\r\n\r\n');
    resolve();
    delete gate.opens;
    await ended;
    await closed;
    expect(problemOf(Buffer.concat(chunks).toString())).toMatchObject({ status: 503, code: 'shutting_down' });
  });
});

function connections(running: RunningApp): Promise<number> {
  const server = running.app.getHttpServer() as Server;
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It did not happen within 5 s');
    await setImmediate(); // lets sockets be read in between
  }
}
