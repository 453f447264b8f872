import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { AddressList } from '@customer-platform/config';
import { type Stage, aGateway, Time } from './gateway.fixture.js';
import { type Caller, callTo, unfinished, until } from './slow-callers.fixture.js';

let stage: Stage;
let time: Time;
afterEach(() => stage.close());

/** A gateway that believes callers about their addresses. */
async function start(
  room: ConstructorParameters<typeof Time>[0],
  answer: Parameters<typeof aGateway>[0],
  options: Parameters<typeof aGateway>[1] = {},
): Promise<void> {
  time = new Time(room);
  const config = { trustedProxies: new AddressList(['127.0.0.1']) };
  stage = await aGateway(answer, { ...options, config, callers: time.callers });
}

const call = (head: string, address = '192.0.2.1', body: string | Buffer = ''): Caller =>
  callTo(stage.gateway.url, head, address, body);
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n';

const ask = (address = '198.51.100.1', body = '{}'): Promise<Response> =>
  fetch(`${stage.gateway.url}/v1/core/track`, {
    method: 'POST',
    body,
    headers: { 'x-forwarded-for': address },
  });

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 << 10, 'a');
}

const answered = (request: { resume(): unknown }, response: ServerResponse): void => {
  request.resume();
  response.end('answered');
};

describe('a body that does not come whole', () => {
  it.each([
    ['chunked', CHUNKED],
    ['one byte short', unfinished(65_535)],
    ['of half a megabyte', unfinished(500_000)],
  ])('%s: its module never hears of it, and others go by', async (_what, body) => {
    let heard = 0;
    await start(
      {},
      (request, response) => {
        heard += 1;
        answered(request, response);
      },
      { connections: 1 },
    );
    const callers = Array.from({ length: 20 }, () => call('POST /oauth/token', '192.0.2.1', body));
    await time.waitFor(20);
    expect(await (await ask()).text()).toBe('answered');
    expect(heard).toBe(1);
    for (const { socket } of callers) socket.destroy();
    await time.waitFor(0);
    expect(time.callers.taken.bytes).toBe(0);
  });

  it('takes no more of the memory than there is, and of who takes most', async () => {
    await start({ bytes: 1 << 20 }, answered);
    const other = call('POST /v1/core/track', '203.0.113.9', unfinished(10_000, 10_001));
    await time.waitFor(1);
    const callers = Array.from({ length: 60 }, () =>
      call('POST /v1/core/batch', '192.0.2.1', unfinished(60_000)),
    );
    await until(() => callers.some(({ heard }) => heard.startsWith('HTTP/1.1 503 ')));
    await time.still();
    expect(time.callers.taken.bytes).toBeLessThanOrEqual(1 << 20);
    other.socket.write('a');
    await until(() => other.heard.endsWith('answered'));
    expect((await ask('192.0.2.2', 'a'.repeat(30_000))).status).toBe(200);
    for (const { socket } of callers) socket.destroy();
    await time.waitFor(0);
    expect(time.callers.taken.bytes).toBe(0);
  });

  it('of single bytes takes as many of the memory, not fifty times', async () => {
    await start({}, answered);
    const caller = call(
      'POST /v1/core/batch',
      '192.0.2.1',
      `Transfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(60_000)}`,
    );
    await time.waitFor(1);
    await until(() => time.callers.taken.bytes >= 60_000);
    await time.still();
    expect(time.callers.taken.bytes).toBeLessThanOrEqual(2 * 60_000);
    caller.socket.destroy();
  });

  it.each(['POST /v1/openapi.json', 'POST /v1/crm/notes'])(
    '%s: holds no connection once it is answered, though it goes on',
    async (target) => {
      await start({}, answered, { lingerMs: 1 });
      const caller = call(target, undefined, unfinished(1, 2 << 20));
      const ended = once(caller.socket, 'close');
      await until(() => caller.heard !== '');
      await ended;
    },
  );

  it('is let go after its time, of a class each; an upload may take as long as it moves', async () => {
    await start({}, (request, response) => void request.resume().once('end', () => response.end('answered')));
    let received = 0;
    stage.gateway.server.on('request', (request: IncomingMessage) =>
      request.on('data', (chunk: Buffer) => (received += chunk.length)),
    );
    const callers = ['/v1/core/track', '/oauth/token'].map((path) =>
      call(`POST ${path}`, undefined, CHUNKED),
    );
    const [event, form] = callers as [Caller, Caller];
    const file = call('POST /v1/core/imports', undefined, unfinished(2 << 20, (2 << 20) + 1_000_000));
    await once(stage.upstream, 'request');
    await time.waitFor(3);
    const move = async (seconds: number): Promise<void> => {
      const open = callers.filter(({ heard }) => heard === '');
      const after = received + 0x3000 * (open.length + 1);
      for (const { socket } of open) socket.write(`3000\r\n${'a'.repeat(0x3000)}\r\n`);
      file.socket.write('a'.repeat(0x3000));
      await until(() => received >= after);
      time.pass(seconds * 1_000);
    };
    await until(() => received === (2 << 20) + 2);
    await move(10);
    await move(5.1);
    await until(() => event.heard.startsWith('HTTP/1.1 408 '));
    expect(form.heard).toBe('');
    for (let n = 0; n < 5; n += 1) await move(10);
    await until(() => form.heard.startsWith('HTTP/1.1 408 '));
    for (let n = 0; n < 50; n += 1) await move(10);
    expect(file.heard).toBe('');
    time.pass(10_001);
    time.pass(10_001);
    await until(() => file.heard.startsWith('HTTP/1.1 408 '));
  });
});

describe('an upload', () => {
  it('that waited for its turn is looked at from there', async () => {
    await start(
      {},
      (request, response) => void request.resume().once('end', () => response.end('answered')),
      {
        connections: 2,
      },
    );
    const upload = (n: number): Caller =>
      call('POST /v1/core/imports', `198.51.${n}.1`, unfinished(1_500_000));
    const first = [upload(1), upload(2)];
    await time.waitFor(2);
    const next = [upload(3), upload(4)];
    await time.still();
    time.passQuickly(3_000);
    for (const { socket } of first) socket.write('a');
    await until(() => first.every(({ heard }) => heard.endsWith('answered')));
    await time.waitFor(2);
    const more = upload(5);
    await time.still();
    time.passQuickly(499);
    await time.still();
    expect(next.map(({ heard }) => heard)).toEqual(['', '']);
    for (const { socket } of next) socket.write('a');
    await until(() => next.every(({ heard }) => heard.endsWith('answered')));
    more.socket.destroy();
  });
});

describe('the places of a network', () => {
  it('are for those that are late: any number of quick ones goes by', async () => {
    await start({ lateOfNetwork: 2 }, answered);
    const callers = Array.from({ length: 30 }, (_, n) =>
      call('POST /v1/core/track', `192.0.2.${n}`, CHUNKED),
    );
    await time.waitFor(30);
    time.pass(900);
    expect(time.callers.taken.waits).toBe(30);
    for (const { socket } of callers.slice(2)) socket.write('0\r\n\r\n');
    await until(() => callers.slice(2).every(({ heard }) => heard.endsWith('answered')));
    time.pass(200);
    expect(time.callers.taken.waits).toBe(2);
    for (const { socket } of callers) socket.destroy();
  });

  it.each([
    ['192.0.2.1', '192.0.2.200', '192.0.3.1'],
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
  ])('of %s and %s are the same, and another’s than %s', async (one, same, other) => {
    await start({ lateOfNetwork: 2 }, answered);
    const slow = [one, same, one, same].map((address) => call('POST /v1/core/track', address, CHUNKED));
    const elsewhere = call('POST /v1/core/track', other, CHUNKED);
    const quick = call('POST /v1/core/track', same, unfinished(30_000));
    await time.waitFor(6);
    await time.still();
    time.pass(1_001);
    expect(time.callers.taken.waits).toBe(3);
    await until(() => slow.filter(({ heard }) => heard.startsWith('HTTP/1.1 408 ')).length === 3);
    quick.socket.write('a');
    await until(() => quick.heard.endsWith('answered'));
    expect(elsewhere.heard).toBe('');
    for (const { socket } of [...slow, elsewhere]) socket.destroy();
  });

  it('of all networks together have an end', async () => {
    await start({ late: 3 }, answered);
    const slow = [1, 1, 1, 2, 3].map((n) => call('POST /v1/core/track', `192.0.${n}.1`, CHUNKED));
    await time.waitFor(5);
    time.pass(1_001);
    expect(time.callers.taken.waits).toBe(3);
    await until(() => slow.filter(({ heard }) => heard.startsWith('HTTP/1.1 408 ')).length === 2);
    expect(slow.slice(3).map(({ heard }) => heard)).toEqual(['', '']);
    for (const { socket } of slow) socket.destroy();
  });
});

describe('an answer that its reader does not take', () => {
  const answerOf =
    (bytes: number) => (request: { url?: string; resume(): unknown }, response: ServerResponse) => {
      request.resume();
      response.end(request.url === '/v1/core/track' ? 'answered' : Buffer.alloc(bytes, 'a'));
    };
  const reader = (address?: string, path = '/v1/crm/notes'): Caller => {
    const caller = call(`GET ${path}`, address, '\r\n');
    caller.socket.pause();
    return caller;
  };

  /** Asks for more, one after the other, than the system takes for a reader. */
  const ANSWERS = 360;
  const MANY = 'GET /v1/crm/notes HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(ANSWERS);

  it('leaves its module at once, and reaches its reader when that reads', async () => {
    await start({}, answerOf(50_000), { connections: 1 });
    const slow = [reader(), reader()];
    for (const { socket } of slow) socket.write(MANY);
    // Those that stand behind another on their connection are counted as well.
    await until(() => time.callers.taken.bytes > 2_000_000);
    expect(await (await ask()).text()).toBe('answered');
    let read = 0;
    for (const { socket } of slow) socket.on('data', (chunk) => (read += chunk.length)).resume();
    await until(() => read > slow.length * (1 + ANSWERS) * 50_000);
    await time.waitFor(0);
    expect(time.callers.taken.bytes).toBe(0);
    for (const { socket } of slow) socket.destroy();
  });

  it('that is too large for that gives way to who waits for the connection', async () => {
    await start({}, answerOf(20 << 20), { connections: 1 });
    const slow = reader('192.0.2.1', '/v1/core/contacts');
    await time.waitFor(1);
    await time.still();
    time.pass(1_001);
    time.pass(1_001);
    const next = reader('192.0.2.9', '/v1/core/imports/1');
    await time.still();
    time.pass(3 * 60_000);
    expect(await (await ask()).text()).toBe('answered');
    for (const { socket } of [slow, next]) socket.destroy();
  });

  it('gives way once nothing of it was taken for half a second, whoever took most at once', async () => {
    await start({}, answerOf(20 << 20), { connections: 1 });
    const slow = ['192.0.2.1', '203.0.113.1'].map((address) => reader(address, '/v1/core/contacts'));
    await time.waitFor(2);
    await time.still();
    // What the systems took at once is seen.
    time.passQuickly(0);
    let text = '';
    void ask().then(async (response) => (text = await response.text()));
    await time.still();
    time.passQuickly(499);
    await time.still();
    expect([text, time.callers.taken.waits]).toEqual(['', 2]);
    // A system may have taken a little more since.
    await until(() => {
      time.passQuickly(500);
      return text === 'answered';
    });
    expect(time.callers.taken.waits).toBe(1);
    for (const { socket } of slow) socket.destroy();
  });

  it('stays where connections are free: whoever waits then waits for the module', async () => {
    const working = Promise.withResolvers<void>();
    await start(
      {},
      (request, response) => {
        if (request.url === '/v1/core/track') void working.promise.then(() => answered(request, response));
        else answerOf(20 << 20)(request, response);
      },
      { connections: 2 },
    );
    const slow = reader('192.0.2.1', '/v1/core/contacts');
    await time.waitFor(1);
    await time.still();
    const asked = [1, 2, 3].map((n) => ask(`198.51.${n}.1`));
    await time.still();
    time.passQuickly(2_000);
    time.pass(1_001);
    time.pass(1_001);
    expect(time.callers.taken.waits).toBe(1);
    working.resolve();
    for (const response of await Promise.all(asked)) expect(await response.text()).toBe('answered');
    expect(slow.socket.destroyed).toBe(false);
    slow.socket.destroy();
  });

  it('takes no more of the memory than there is', async () => {
    await start({ bytes: 150_000 }, answerOf(50_000));
    const slow = Array.from({ length: 6 }, () => reader());
    for (const { socket } of slow) socket.write(MANY);
    await until(() => time.callers.taken.bytes > 37_500);
    await time.still();
    expect(time.callers.taken.bytes).toBeLessThanOrEqual(150_000);
    expect(time.callers.taken.waits).toBeLessThanOrEqual(3);
    for (const { socket } of slow) socket.destroy();
    await time.waitFor(0);
    expect(time.callers.taken.bytes).toBe(0);
  });

  it('is cut off after the time of its class, though its reader takes a little of it again and again', async () => {
    await start({}, (request, response) => {
      request.resume();
      Readable.from(endless()).pipe(response);
    });
    const slow = reader();
    await time.waitFor(1);
    let passed = 0;
    for (; time.callers.taken.waits === 1 && passed < 300_000; passed += 10_000) {
      slow.heard = '';
      slow.socket.resume();
      await until(() => slow.heard.length > 2 << 20);
      slow.socket.pause();
      await time.waitFor(1);
      await time.still();
      time.pass(10_000);
    }
    expect(passed).toBeLessThan(300_000);
    slow.socket.destroy();
  });

  it('is cut off when nothing of it is taken, an own document like a module’s', async () => {
    await start({}, answerOf(12 << 20));
    const slow = reader();
    await time.waitFor(1);
    await time.still();
    for (let n = 0; n < 20; n += 1) time.pass(9_000);
    const ended = once(slow.socket, 'close');
    slow.socket.resume();
    await ended;
    expect(slow.heard.length).toBeLessThan(12 << 20);
    await time.waitFor(0);
  });
});
