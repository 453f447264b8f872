import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Stage, aGateway } from './gateway.fixture.js';

let stage: Stage;
afterEach(() => stage.close());

/** A connection that has sent `bytes`. */
async function sent(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(stage.gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return socket;
}

/** Resolves once the gateway has begun with so many requests more. */
function requestsTo({ gateway }: Stage, count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => gateway.server.on('request', () => void ((left -= 1) === 0 && resolve())));
}

/** Resolves once no more than so many connections are left: what the others' ends bring about has come about. */
async function connectionsTo({ gateway }: Stage, most: number): Promise<void> {
  const count = (): Promise<number> =>
    new Promise((resolve, reject) =>
      gateway.server.getConnections((error, found) => (error ? reject(error) : resolve(found))),
    );
  while ((await count()) > most) await new Promise((resolve) => setImmediate(resolve));
}

const BEGUN = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n';

describe('a caller that breaks off', () => {
  it('while its request waits for a connection to the module ends nothing but itself', async () => {
    const begun = Promise.withResolvers<() => void>();
    stage = await aGateway(
      (request, response) => {
        if (request.url === '/v1/core/events') begun.resolve(() => response.end('{}'));
        else response.end('answered');
      },
      { connections: 1 },
    );
    const first = fetch(`${stage.gateway.url}/v1/core/events`);
    const answer = await begun.promise;
    const waiting = requestsTo(stage, 20);
    const callers = await Promise.all(
      Array.from({ length: 20 }, () => sent(`POST /v1/core/imports HTTP/1.1\r\n${BEGUN}`)),
    );
    await waiting;
    for (const caller of callers) caller.resetAndDestroy();
    await connectionsTo(stage, 1);
    answer();
    expect(await (await first).text()).toBe('{}');
    expect(await (await fetch(`${stage.gateway.url}/v1/core/contacts`)).text()).toBe('answered');
  });

  it('whose body came to an event stream while the gateway drains ends nothing but itself', async () => {
    stage = await aGateway((_request, response) => response.end('{}'));
    stage.gateway.drain();
    const caller = await sent(`GET /v1/core/events/stream HTTP/1.1\r\n${BEGUN}`);
    await once(caller, 'data');
    caller.resetAndDestroy();
    await connectionsTo(stage, 0);
    expect((await fetch(`${stage.gateway.url}/problems`)).status).toBe(200);
  });

  it('that asked for a tunnel and keeps its side open holds up no end', async () => {
    stage = await aGateway((_request, response) => response.end('{}'));
    const { hostname, port } = new URL(stage.gateway.url);
    const caller = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    caller.on('error', () => undefined).write('CONNECT internal:80 HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(caller.resume(), 'end');
    const closed = once(caller, 'close');
    await stage.gateway.close(100);
    caller.end();
    await closed;
  });

  it('and never reads gets no more than so many answers behind one another', async () => {
    let begun = 0;
    stage = await aGateway((_request, response) => {
      begun += 1;
      response.end('x'.repeat(50_000));
    });
    const caller = await sent('GET /v1/core/contacts HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_200));
    caller.pause();
    await connectionsTo(stage, 0);
    expect(begun).toBeLessThanOrEqual(500);
    caller.destroy();
  });

  it('after it asked for a tunnel ends nothing but itself', async () => {
    stage = await aGateway((_request, response) => response.end('{}'));
    for (let n = 0; n < 20; n += 1) {
      const caller = await sent('CONNECT internal:80 HTTP/1.1\r\nHost: a\r\n\r\n');
      caller.resetAndDestroy();
    }
    await connectionsTo(stage, 0);
    expect((await fetch(`${stage.gateway.url}/problems`)).status).toBe(200);
  });
});
