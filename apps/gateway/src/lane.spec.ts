import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { AddressList } from '@customer-platform/config';
import { type Stage, aGateway, Time } from './gateway.fixture.js';

let stage: Stage;
let time: Time;
let begun: { path: string; response: ServerResponse }[];
let sockets: Socket[];
/** Answers that are read by nobody, and that no system takes whole. */
const LARGE = Buffer.alloc(20 << 20, 'a');
const DEAF = '/v1/crm/notes';

async function start(options: Parameters<typeof aGateway>[1] = {}): Promise<void> {
  time = new Time();
  [begun, sockets] = [[], []];
  const config = { trustedProxies: new AddressList(['127.0.0.1']) };
  const play = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '';
    request.on('error', () => undefined).resume();
    if (path === DEAF) response.end(LARGE);
    else if (path === '/v1/core/track') response.end('answered');
    begun.push({ path, response });
  };
  stage = await aGateway(play, { ...options, config, callers: time.callers });
}
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await stage.close();
});

const ask = (path: string, address: string): Promise<Response> =>
  fetch(`${stage.gateway.url}${path}`, { headers: { 'x-forwarded-for': address } });

/** A client that asks and reads nothing of the answer. */
function deafReader(address: string): Socket {
  const { hostname, port } = new URL(stage.gateway.url);
  const socket = connect(Number(port), hostname).pause();
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${DEAF} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`);
  return socket;
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('It did not happen within 20 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
const heard = (path: string): number => begun.filter((one) => one.path === path).length;

describe('readers that take nothing of large answers', () => {
  it.each([1, 4])(
    'from %i networks leave others their connections, though none has been slow yet',
    async (of) => {
      await start({ connections: 8 });
      for (let n = 0; n < 40; n += 1) deafReader(`203.0.${n % of}.1`);
      await until(() => time.callers.taken.waits >= 8);
      await time.still();
      for (let n = 0; n < 10; n += 1) {
        expect(await (await ask('/v1/core/track', '198.51.100.7')).text()).toBe('answered');
      }
      // Of 16 connections one network has half, four of them four fifths; each holds what is read ahead of its reader.
      expect(heard(DEAF)).toBeLessThanOrEqual(of === 1 ? 8 : 13);
      expect(time.callers.taken.bytes).toBeLessThan(heard(DEAF) * (256 << 10));
    },
  );

  it('give way to who waits once they were slow between two looks, whatever their systems took before', async () => {
    await start({ connections: 1 });
    for (const n of [1, 2, 3]) deafReader(`203.0.${n}.1`);
    await time.waitFor(2);
    await time.still();
    const waiting = ask('/v1/core/track', '198.51.100.7');
    for (let looks = 0; looks < 3; looks += 1) time.pass(1_001);
    expect(await (await waiting).text()).toBe('answered');
  });
});

describe('requests that wait for a connection', () => {
  const SLOW = '/v1/core/contacts';
  /** Asks from a network of its own for each letter, in this order. */
  const asked = async (order: string): Promise<Promise<Response>[]> => {
    const answers: Promise<Response>[] = [];
    for (const letter of order) {
      const began = new Promise((resolve) => stage.gateway.server.once('request', resolve));
      answers.push(ask(`${SLOW}?${letter}`, `203.0.${letter.charCodeAt(0)}.1`));
      await began;
    }
    return answers;
  };
  const answerEach = async (count: number): Promise<string> => {
    for (let n = 0; n < count; n += 1) {
      await until(() => begun.length > n);
      begun[n]?.response.end();
    }
    return begun.map(({ path }) => path.at(-1)).join('');
  };

  it('take turns by network', async () => {
    await start({ connections: 1 });
    const answers = await asked('aaaaabcb');
    expect(await answerEach(answers.length)).toBe('aabcabaa');
    for (const answer of answers) expect((await answer).status).toBe(200);
  });

  it('lose their places where a network has most of them: its last, to a network that has fewer', async () => {
    await start({ connections: 1, longestQueue: 3 });
    const answers = await asked('aaaab');
    const [refused] = answers.splice(3, 1);
    expect((await refused)?.status).toBe(503);
    expect((await ask(`${SLOW}?a`, '203.0.97.9')).status).toBe(503);
    expect(await answerEach(answers.length)).toBe('aaba');
    for (const answer of answers) expect((await answer).status).toBe(200);
  });
});
