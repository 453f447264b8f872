import { jest } from '@jest/globals';
import type { Client } from '@customer-platform/client';
import { followEvents } from './event-feed.ts';
import { LiveBuffer } from './live-buffer.ts';

/** A list that is empty. */
async function* nothing(): AsyncGenerator<object> {
  yield await Promise.resolve({ data: [], page: { next_cursor: null } });
}

/** What the stream answers, one text for each time that it is asked for; every one ends in good order after a while. */
async function follow(
  answers: readonly string[],
  lastsMs: number,
): Promise<[asked: unknown[], said: unknown[]]> {
  const asked: unknown[] = [];
  const said: unknown[] = [];
  const ended = new AbortController();
  const buffer = new LiveBuffer((run) => run());
  jest.spyOn(buffer, 'become').mockImplementation((change) => {
    said.push(change.connection);
    if (change.connection === 'lost') ended.abort();
  });
  jest.spyOn(Math, 'random').mockReturnValue(0);
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  jest.spyOn(globalThis, 'fetch').mockImplementation((_, init) => {
    const text = answers[asked.length];
    asked.push(new Headers(init?.headers).get('last-event-id'));
    if (text === undefined) {
      ended.abort();
      return Promise.reject(new Error('The page has gone'));
    }
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      now += lastsMs;
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    };
    // Nothing comes before it is read.
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    return Promise.resolve(new Response(body));
  });
  const api = { pages: nothing } as unknown as Client;
  await followEvents({ api, token: () => Promise.resolve('t'), filters: {} }, buffer, ended.signal);
  return [asked, said];
}

afterEach(() => jest.restoreAllMocks());

describe('a stream that ends in good order', () => {
  it('is asked for again, from where it was, and nothing is said of it', async () => {
    const [asked, said] = await follow([':\n\nid: p1\n\n', 'id: p2\n\n:\n\n', ':\n\n'], 100_000);
    expect(asked).toEqual([null, 'p1', 'p2', 'p2']);
    expect(said).toEqual(['streamed', 'streamed', 'streamed']);
  });

  it('hardly begun is taken for one that broke', async () => {
    const [asked, said] = await follow(['id: p1\n\n'], 10);
    expect([asked, said]).toEqual([[null], ['streamed', 'lost']]);
  });
});
