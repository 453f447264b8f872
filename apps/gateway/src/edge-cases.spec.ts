import { once } from 'node:events';
import { connect } from 'node:net';
import { type Stage, aGateway, raw } from './gateway.fixture.js';

let stage: Stage;
afterEach(() => stage.close());

const problemIn = (text: string): Record<string, unknown> =>
  JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4)) as Record<string, unknown>;

describe('a module that answers before it has read the body', () => {
  it('413: the caller gets it, though it is still sending', async () => {
    stage = await aGateway((_request, response) => {
      response.writeHead(413, { 'content-type': 'application/problem+json' });
      response.end('{"code":"body_too_large"}');
    });
    const { hostname, port } = new URL(stage.gateway.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.write('POST /v1/core/imports HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n');
    const chunk = Buffer.alloc(1 << 20);
    for (let sent = 0; sent < 47 && !text.includes('body_too_large'); sent++) {
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'data')]);
    }
    await until(() => text.includes('body_too_large'));
    expect(text).toContain('HTTP/1.1 413 ');
    socket.destroy();
  });
});

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('It did not happen within 5 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('expectations', () => {
  it('100-continue is answered at once', async () => {
    stage = await aGateway((request, response) => {
      request.resume().on('end', () => response.end('got it'));
    });
    const { hostname, port } = new URL(stage.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      'POST /v1/core/track HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      if (text === '') socket.write('{}');
      text += chunk.toString();
    });
    await once(socket, 'close');
    expect(text).toContain('HTTP/1.1 100 Continue');
    expect(text).toContain('got it');
  });

  it('another expectation is ignored, as RFC 9110 lets a server do', async () => {
    stage = await aGateway((_request, response) => response.end('fine'));
    const text = await raw(
      stage.gateway.url,
      'GET /v1/core/x HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    );
    expect(text).toContain('fine');
  });
});

it('a request without a host is malformed_request as a problem', async () => {
  stage = await aGateway((_request, response) => response.end('REACHED'));
  const text = await raw(stage.gateway.url, 'GET /v1/core/x HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(problemIn(text)).toMatchObject({ status: 400, code: 'malformed_request' });
});

it('OPTIONS of an own document tells its methods', async () => {
  stage = await aGateway((_request, response) => response.end('REACHED'));
  const answer = await fetch(`${stage.gateway.url}/v1/openapi.json`, { method: 'OPTIONS' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
});

it('a preflight is the module’s to answer, and its answer the caller’s to see', async () => {
  stage = await aGateway((request, response) =>
    response
      .writeHead(204, {
        'access-control-allow-origin': '*',
        'access-control-allow-headers': request.headers['access-control-request-headers'],
        'x-asked': `${String(request.method)} ${String(request.headers.origin)}`,
      })
      .end(),
  );
  const { status, headers } = await fetch(`${stage.gateway.url}/oauth/token`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  });
  const seen = ['access-control-allow-origin', 'access-control-allow-headers', 'x-asked'];
  expect([status, ...seen.map((name) => headers.get(name))]).toEqual([
    204,
    '*',
    'authorization',
    'OPTIONS https://app.example',
  ]);
});

it('a very long target is uri_too_long, though the parser gives up first', async () => {
  stage = await aGateway((_request, response) => response.end('REACHED'));
  const text = await raw(stage.gateway.url, `GET /v1/core/${'a'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(problemIn(text)).toMatchObject({ status: 414, code: 'uri_too_long' });
});

it('an offer to upgrade is not taken: the request is served as it is', async () => {
  stage = await aGateway((request, response) => response.end(String(request.headers.upgrade)));
  const text = await raw(
    stage.gateway.url,
    'GET /v1/core/x HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
  );
  expect(text).toContain('HTTP/1.1 200');
  expect(text).toContain('undefined');
});
