import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { type Stage, aGateway, Time } from './gateway.fixture.js';
import { PATIENCE } from './upstream.js';

let stage: Stage;
afterEach(() => stage.close());

const BIG = 5_000_000;

/** Uploads `size` bytes, or announces them and sends `sent`, and answers what came back. */
async function upload(size: number, sent = size): Promise<string> {
  const { hostname, port } = new URL(stage.gateway.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(`POST /v1/core/imports HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
  socket.write(Buffer.alloc(sent));
  await until(() => text.endsWith('}'));
  socket.destroy();
  return text;
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('It did not happen within 10 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('an upload', () => {
  it('503 when the module is not there, though the body is still coming', async () => {
    stage = await aGateway(() => undefined);
    stage.upstream.closeAllConnections();
    await new Promise((resolve) => stage.upstream.close(resolve));
    expect(await upload(BIG)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"dependency_unavailable"/);
  });

  it('503 when the module dies in the middle of it, once and without a retry', async () => {
    let tries = 0;
    stage = await aGateway((request) => {
      tries += 1;
      request.once('data', () => request.socket.destroy());
    });
    expect(await upload(BIG)).toMatch(/^HTTP\/1\.1 503 /);
    expect(tries).toBe(1);
  });

  it('504 when the module takes it and does not answer', async () => {
    stage = await aGateway((request) => void request.resume(), { patience: { ...PATIENCE, headers: 300 } });
    expect(await upload(BIG)).toMatch(/^HTTP\/1\.1 504 [^]*"code":"upstream_timeout"/);
  });

  it('408 when a small body does not arrive, and the module never hears of it', async () => {
    let tries = 0;
    const time = new Time();
    stage = await aGateway(() => (tries += 1), { callers: time.callers });
    const answer = upload(100, 50);
    await time.waitFor(1);
    time.pass(60_001);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
    expect(tries).toBe(0);
  });

  it('408 when a large one stalls, and the module is let go', async () => {
    const let_go = Promise.withResolvers<void>();
    const time = new Time();
    stage = await aGateway((request) => void request.resume().once('close', () => let_go.resolve()), {
      callers: time.callers,
    });
    const answer = upload(BIG, 100_000);
    await once(stage.upstream, 'request');
    time.pass(10_001); // the first window has what was sent
    time.pass(10_001);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
    await let_go.promise;
  });

  it('is not blamed on the caller when the module reads slowly', async () => {
    const time = new Time();
    const reads = Promise.withResolvers<() => void>();
    stage = await aGateway(
      (request, response) => reads.resolve(() => void request.resume().once('end', () => response.end('{}'))),
      { callers: time.callers },
    );
    const answer = upload(BIG * 4);
    const read = await reads.promise;
    await time.still();
    for (let n = 0; n < 10; n += 1) time.pass(10_001);
    read();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('of any size waits for its module instead of gathering in memory', async () => {
    stage = await aGateway(() => undefined); // takes no byte
    const { hostname, port } = new URL(stage.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('POST /v1/core/imports HTTP/1.1\r\nHost: a\r\nContent-Length: 500000000\r\n\r\n');
    const megabyte = Buffer.alloc(1 << 20);
    for (let sent = 0; sent < 300; sent += 1) socket.write(megabyte);
    await once(stage.upstream, 'request');
    let last = -1;
    await until(() => {
      const still = last === socket.bytesWritten - socket.writableLength;
      last = socket.bytesWritten - socket.writableLength;
      return still && last > 0;
    });
    expect(last).toBeLessThan(100 << 20);
    socket.destroy();
  });

  it('that the caller breaks off reaches the module as broken off, never as complete', async () => {
    const seen = Promise.withResolvers<boolean>();
    stage = await aGateway((request: IncomingMessage) => {
      request.resume().once('close', () => seen.resolve(request.complete));
    });
    const { hostname, port } = new URL(stage.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.write('POST /v1/core/imports HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n');
    socket.write(Buffer.alloc(2 << 20));
    await once(stage.upstream, 'request');
    socket.destroy();
    expect(await seen.promise).toBe(false);
  });
});

describe('a module that is overrun', () => {
  it('503 at once for what would only wait, and service for the rest', async () => {
    const answers: (() => void)[] = [];
    stage = await aGateway((_request, response) => void answers.push(() => response.end('{}')), {
      connections: 1,
      longestQueue: 1,
    });
    const codes: (string | undefined)[] = [];
    const calls = Array.from({ length: 5 }, async () => {
      const answer = await fetch(`${stage.gateway.url}/v1/core/events`);
      codes.push(((await answer.json()) as { code?: string }).code);
    });
    await until(() => codes.length === 3 && answers.length === 1);
    expect(codes).toEqual(Array(3).fill('dependency_unavailable'));
    answers.shift()?.();
    await until(() => answers.length === 1);
    answers.shift()?.();
    await Promise.all(calls);
    expect(codes.slice(3)).toEqual([undefined, undefined]);
  });
});

describe('chunk extensions', () => {
  it('beyond reason are body_too_large', async () => {
    stage = await aGateway((request) => void request.resume());
    const { hostname, port } = new URL(stage.gateway.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    const head = 'POST /v1/core/imports HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(`${head}5;${'x'.repeat(20_000)}\r\nhello\r\n`);
    await until(() => text.endsWith('}'));
    expect(text).toMatch(/^HTTP\/1\.1 413 [^]*"code":"body_too_large"/);
    socket.destroy();
  });
});

describe('what the log is told', () => {
  it('names module, code and cause, which the caller does not see', async () => {
    const failures: string[] = [];
    stage = await aGateway((request) => request.socket.destroy(), {
      onFailure: (module, problem) => failures.push(`${module} ${problem.code} ${String(problem.cause)}`),
    });
    const answer = await fetch(`${stage.gateway.url}/v1/core/track`, { method: 'POST', body: '{}' });
    expect(await answer.text()).not.toContain('socket');
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(/^core dependency_unavailable .*(closed|hang up|reset)/i);
  });
});

describe('an answer', () => {
  it('of any size goes through with little memory while the caller reads slowly', async () => {
    const megabyte = Buffer.alloc(1 << 20, 1);
    let written = 0;
    stage = await aGateway((_request, response) => {
      const more = () => {
        while (written < 300 && !response.destroyed) {
          written += 1;
          if (!response.write(megabyte)) return void response.once('drain', more);
        }
        if (!response.destroyed) response.end();
      };
      more();
    });
    const { hostname, port } = new URL(stage.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write('GET /v1/core/events HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(stage.upstream, 'request');
    let last = -1;
    await until(() => {
      const still = last === written && written > 0;
      last = written;
      return still;
    });
    const held = written;
    expect(held).toBeLessThan(100);
    socket.destroy();
  });

  it('without a correlation id of the module gets the request’s', async () => {
    stage = await aGateway((_request, response) => response.end('{}'));
    const id = '7b9f0c1e-7f0a-4d4e-8a53-000000000001';
    const answer = await fetch(`${stage.gateway.url}/v1/core/events`, {
      headers: { 'x-correlation-id': id },
    });
    expect(answer.headers.get('x-correlation-id')).toBe(id);
  });

  it('with the event’s own id as correlation keeps it', async () => {
    const event = '11111111-1111-8111-8111-111111111111';
    stage = await aGateway((_request, response) =>
      response.writeHead(202, { 'X-Correlation-Id': event }).end('{}'),
    );
    const answer = await fetch(`${stage.gateway.url}/v1/core/track`, { method: 'POST', body: '{}' });
    expect(answer.headers.get('x-correlation-id')).toBe(event);
  });
});
