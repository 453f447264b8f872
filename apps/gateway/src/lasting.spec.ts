import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Stage, aGateway } from './gateway.fixture.js';
import { PATIENCE } from './upstream.js';

const STREAM = '/v1/core/events/stream';

let stage: Stage;
afterEach(() => stage.close());

/** A module whose streams a test writes by itself. */
class Streaming {
  readonly open: ServerResponse[] = [];

  readonly answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (!request.url?.startsWith(STREAM)) {
      response.end('answered');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':\n\n');
    this.open.push(response);
  };
}

interface Reading {
  next(): Promise<string>;
  stop(): void;
}

async function read(url: string): Promise<Reading> {
  const controller = new AbortController();
  const response = await fetch(url, { signal: controller.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  return {
    next: async () => {
      const { value, done } = await reader.read();
      return done ? '' : new TextDecoder().decode(value);
    },
    stop: () => controller.abort(),
  };
}

describe('an answer that lasts', () => {
  it('is passed on as it comes', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer);
    const reading = await read(`${stage.gateway.url}${STREAM}?event=paid`);
    expect(await reading.next()).toBe(':\n\n');
    for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
      streaming.open[0]?.write(text);
      expect(await reading.next()).toBe(text);
    }
    reading.stop();
  });

  it('outlasts the patience for answers, for as long as it says something', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer, { patience: { ...PATIENCE, headers: 200, body: 1_000 } });
    const reading = await read(`${stage.gateway.url}${STREAM}`);
    const beat = setInterval(() => streaming.open[0]?.write(':\n\n'), 100);
    let heard = '';
    for (const until = performance.now() + 2_500; performance.now() < until;) heard += await reading.next();
    clearInterval(beat);
    expect(heard.length).toBeGreaterThan(3);
    expect(streaming.open[0]?.destroyed).toBe(false);
    reading.stop();
  });

  it('takes no connection from other requests', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer, { connections: 1, longestQueue: 1 });
    const readings = await Promise.all([1, 2, 3].map(() => read(`${stage.gateway.url}${STREAM}`)));
    const answer = await fetch(`${stage.gateway.url}/v1/core/contacts`);
    expect(await answer.text()).toBe('answered');
    for (const reading of readings) reading.stop();
  });

  it('503 for more at once than there may be', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer, { lasting: 1 });
    const reading = await read(`${stage.gateway.url}${STREAM}`);
    const answer = await fetch(`${stage.gateway.url}${STREAM}`);
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'dependency_unavailable' }]);
    reading.stop();
  });

  describe('before the module lets its reader in', () => {
    /** A module that knows no key yet, and then knows which it was. */
    async function slow(options: Parameters<typeof aGateway>[1]) {
      const waiting: ServerResponse[] = [];
      const bell = new EventEmitter();
      const streaming = new Streaming();
      stage = await aGateway((request, response) => {
        if (request.headers.authorization === 'Bearer known') streaming.answer(request, response);
        else {
          waiting.push(response);
          bell.emit('knock');
        }
      }, options);
      const url = `${stage.gateway.url}${STREAM}`;
      const knock = async (count: number) => {
        const answers = Array.from({ length: count }, () => fetch(url));
        while (waiting.length < count) await once(bell, 'knock');
        return answers;
      };
      return { url, waiting, knock };
    }
    const known = { headers: { authorization: 'Bearer known' } };

    it('takes no place of those who are let in', async () => {
      const { url, waiting, knock } = await slow({ lasting: 1, connections: 3 });
      const knocking = await knock(3);
      const letIn = await fetch(url, known);
      expect(letIn.status).toBe(200);
      for (const response of waiting) response.writeHead(401).end();
      for (const answer of await Promise.all(knocking)) expect(answer.status).toBe(401);
      await letIn.body?.cancel();
    });

    it('503 for more than may wait', async () => {
      const { url, waiting, knock } = await slow({ lasting: 5, connections: 1, longestQueue: 1 });
      const knocking = await knock(2);
      const answer = await fetch(url);
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'dependency_unavailable' }]);
      for (const response of waiting) response.writeHead(401).end();
      await Promise.all(knocking);
      expect((await fetch(url, known)).status).toBe(200);
    });

    it('503 for who is let in when the last place has gone, and the module is told', async () => {
      const { waiting, knock } = await slow({ lasting: 1 });
      const knocking = await knock(2);
      const closed = Promise.race(waiting.map((response) => once(response, 'close')));
      for (const response of waiting) response.writeHead(200).write(':\n\n');
      const answers = await Promise.all(knocking);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 503]);
      await closed;
      expect(waiting.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    });

    it('503 for who is let in when the gateway is to end', async () => {
      const { waiting, knock } = await slow({});
      const [knocking] = await knock(1);
      stage.gateway.drain();
      waiting[0]?.writeHead(200).write(':\n\n');
      const answer = await knocking;
      expect([answer?.status, await answer?.json()]).toMatchObject([503, { code: 'shutting_down' }]);
    });
  });

  it('ends at the module when its reader goes', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer);
    const reading = await read(`${stage.gateway.url}${STREAM}`);
    const [open] = streaming.open;
    const closed = open && once(open, 'close');
    reading.stop();
    await closed;
    expect(open?.destroyed).toBe(true);
  });

  it('ends for its reader when the module ends it', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer);
    const reading = await read(`${stage.gateway.url}${STREAM}`);
    expect(await reading.next()).toBe(':\n\n');
    streaming.open[0]?.end();
    expect(await reading.next()).toBe('');
  });

  it('ends at once when the gateway is to end, and none begins then', async () => {
    const streaming = new Streaming();
    stage = await aGateway(streaming.answer);
    const reading = await read(`${stage.gateway.url}${STREAM}`);
    expect(await reading.next()).toBe(':\n\n');
    const [open] = streaming.open;
    const closed = open && once(open, 'close');
    stage.gateway.drain();
    expect(await reading.next()).toBe('');
    await closed;
    const answer = await fetch(`${stage.gateway.url}${STREAM}`);
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'shutting_down' }]);
  });
});
