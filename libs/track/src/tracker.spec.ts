import { TestTracker } from './bench.fixture.js';
import { Receiver } from './receiver.fixture.js';
import { MemoryStore } from './store.js';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

const reasons = (bench: TestTracker): string[] => bench.drops.map(({ reason }) => reason);

describe('an event', () => {
  it('is sent once its second is over, with its key, its time and the key of the sender', async () => {
    const bench = new TestTracker(receiver);
    expect(await bench.tracker.track('page_viewed', { path: '/' })).toBe('memory');
    expect(bench.due).toEqual([1_000]);
    await bench.tracker.flush();
    expect(receiver.events).toEqual([
      {
        type: 'track',
        event: 'page_viewed',
        external_id: 'person-1',
        idempotency_key: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/),
        occurred_at: '2026-11-21T09:30:00.000Z',
        properties: { path: '/' },
      },
    ]);
    expect(receiver.keys).toEqual(['Bearer cpk_live_test']);
    expect(bench.tracker.counts).toEqual({ queued: 0, delivered: 1, dropped: {} });
    expect(bench.due).toEqual([]);
  });

  it('goes at once when enough are there', async () => {
    const bench = new TestTracker(receiver, { flushAt: 3 });
    for (const name of ['a', 'b', 'c']) void bench.tracker.track(name);
    expect(bench.due).toEqual([0]);
  });

  it('is of the one who was identified last, unless it says otherwise', async () => {
    const bench = new TestTracker(receiver);
    void bench.tracker.track('a');
    void bench.tracker.identify(
      'ana',
      { email: 'ana@example.com' },
      { identities: [{ type: 'x', value: 'y' }] },
    );
    void bench.tracker.track('b');
    void bench.tracker.track(
      'c',
      {},
      { externalId: 'other', idempotencyKey: 'invoice-1', occurredAt: new Date(0) },
    );
    await bench.tracker.flush();
    expect(receiver.events.map(({ external_id: who }) => who)).toEqual(['person-1', 'ana', 'ana', 'other']);
    expect(receiver.events[1]).toMatchObject({
      type: 'identify',
      traits: { email: 'ana@example.com' },
      identities: [{ type: 'x', value: 'y' }],
    });
    expect(receiver.events[3]).toMatchObject({
      idempotency_key: 'invoice-1',
      occurred_at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('is later than the one before it, though the clock is set back', async () => {
    const bench = new TestTracker(receiver);
    void bench.tracker.track('a');
    void bench.tracker.track('b');
    bench.now -= 60_000;
    void bench.tracker.track('c');
    bench.now -= 2 * 3_600_000;
    void bench.tracker.track('d');
    await bench.tracker.flush();
    expect(receiver.events.map(({ occurred_at: at }) => at)).toEqual([
      '2026-11-21T09:30:00.000Z',
      '2026-11-21T09:30:00.001Z',
      '2026-11-21T09:30:00.002Z',
      '2026-11-21T07:29:00.000Z',
    ]);
  });
});

describe('what is no event', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const throwing = (): never => {
    throw new Error('from the page');
  };
  const endless = (): unknown =>
    new Proxy(
      {},
      {
        get: () => endless(),
        ownKeys: () => ['in'],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      },
    );

  it.each([
    ['a cycle', cycle, 'not_serializable'],
    ['a bigint', { amount: 1n }, 'not_serializable'],
    ['a toJSON that throws', { toJSON: throwing }, 'not_serializable'],
    [
      'a getter that throws',
      Object.defineProperty({}, 'x', { enumerable: true, get: throwing }),
      'not_serializable',
    ],
    ['a long text', { text: 'x'.repeat(32 * 1024) }, 'too_large'],
    ['text that is long in bytes only', { text: '☃'.repeat(11_000) }, 'too_large'],
    ['an array of a billion holes', { list: new Array(1e9) }, /not_serializable|too_large/],
    ['an object without end', { deep: endless() }, /not_serializable|too_large/],
  ])('%s is dropped and told', async (_name, properties, reason) => {
    const bench = new TestTracker(receiver);
    expect(await bench.tracker.track('bad', properties)).toBe('dropped');
    expect(await bench.tracker.track('good')).toBe('memory');
    await bench.tracker.flush();
    expect(receiver.names).toEqual(['good']);
    expect(bench.drops).toEqual([
      {
        event: { type: 'track', event: 'bad', external_id: 'person-1' },
        reason: expect.stringMatching(reason),
        code: expect.stringMatching(reason),
      },
    ]);
  });

  it.each([
    ['no name', [undefined]],
    ['a name that is a number', [5]],
    ['nobody’s', ['a', {}, { externalId: '' }]],
    ['options that are none', ['a', {}, null]],
    ['options that throw', ['a', {}, new Proxy({}, { get: throwing })]],
  ])('%s: the call returns as always', async (_name, values) => {
    const bench = new TestTracker(receiver);
    const track = bench.tracker.track.bind(bench.tracker) as (...values: unknown[]) => Promise<string>;
    expect(await track(...values)).toBe('dropped');
    expect(reasons(bench)).toEqual(['invalid']);
    expect(bench.tracker.counts.dropped).toEqual({ invalid: 1 });
  });

  it('a page that throws when it is told does not hold up the others', async () => {
    const bench = new TestTracker(receiver, { onDrop: throwing, onFailure: throwing });
    receiver.fault = () => ({ status: 500 });
    await bench.tracker.track('bad', cycle);
    void bench.tracker.track('good');
    await bench.tracker.flush();
    receiver.fault = () => undefined;
    expect(await bench.tracker.flush()).toMatchObject({ delivered: 1, dropped: { not_serializable: 1 } });
  });
});

describe('a batch', () => {
  it('has at most 500 events and 500 KiB', async () => {
    const bench = new TestTracker(receiver, { maxEvents: 2_000, maxBytes: 2 ** 24 });
    for (let i = 0; i < 501; i += 1) void bench.tracker.track('small');
    const text = 'x'.repeat(30_000);
    for (let i = 0; i < 20; i += 1) void bench.tracker.track('large', { text });
    await bench.tracker.flush();
    expect(receiver.batches.map(({ length }) => length)).toEqual([500, 17, 4]);
    for (const events of receiver.batches)
      expect(Buffer.byteLength(JSON.stringify({ events }))).toBeLessThanOrEqual(500 * 1024);
  });

  it('whose items are refused loses those, told by code, and keeps what may be tried again', async () => {
    const bench = new TestTracker(receiver);
    for (const name of ['good', 'bad', 'many']) void bench.tracker.track(name);
    receiver.fault = () => ({
      status: 202,
      headers: { 'retry-after': '7' },
      body: {
        results: [
          { index: 0, event_id: 'e' },
          { index: 1, code: 'validation_failed', pointer: '/event', detail: 'no', retryable: false },
          { index: 2, code: 'rate_limited', pointer: '', detail: 'no', retryable: true },
          { index: 99, event_id: 'e' },
        ],
      },
    });
    expect(await bench.tracker.flush()).toEqual({ queued: 1, delivered: 1, dropped: { refused: 1 } });
    expect(bench.drops).toMatchObject([
      { event: { event: 'bad' }, reason: 'refused', code: 'validation_failed' },
    ]);
    expect(bench.failures).toEqual([{ code: 'status_202', status: 202, retryInMs: 7_500 }]);
    // Asked to wait, it waits, whoever asks it.
    await bench.tracker.flush();
    bench.tracker.leave();
    expect(receiver.batches).toHaveLength(1);
    receiver.fault = () => undefined;
    bench.now += 7_000;
    await bench.tracker.flush();
    expect(receiver.batches[1]?.map(({ event }) => event)).toEqual(['many']);
  });

  it('that is refused whole is halved until the one is found that it was refused for', async () => {
    const bench = new TestTracker(receiver);
    const poison = (events: readonly { event?: string }[]) => events.some(({ event }) => event === 'poison');
    receiver.fault = (events) =>
      poison(events)
        ? { status: 400, body: { code: 'validation_failed', errors: [{ pointer: '/events/3' }] } }
        : undefined;
    for (let i = 0; i < 20; i += 1) void bench.tracker.track(i === 7 ? 'poison' : 'good');
    expect(await bench.tracker.flush()).toEqual({ queued: 0, delivered: 19, dropped: { refused: 1 } });
    expect(bench.drops).toMatchObject([{ event: { event: 'poison' }, code: 'validation_failed' }]);
  });

  it('all of whose items are refused one by one is gone at once', async () => {
    const bench = new TestTracker(receiver);
    receiver.fault = (events) => ({
      status: 400,
      body: {
        code: 'x',
        errors: events.map((_, index) => ({ index, code: 'placeholder_identifier', retryable: false })),
      },
    });
    for (const name of ['a', 'b']) void bench.tracker.track(name);
    expect(await bench.tracker.flush()).toMatchObject({ queued: 0, dropped: { refused: 2 } });
    expect(receiver.batches).toHaveLength(1);
  });

  it('that is too large for something on the way is made smaller, and stays so', async () => {
    const bench = new TestTracker(receiver, { maxBytes: 2 ** 24 });
    receiver.fault = (_events, bytes) => (bytes > 100_000 ? { status: 413, body: '<html>' } : undefined);
    const text = 'x'.repeat(30_000);
    const twelve = () =>
      Promise.all(Array.from({ length: 12 }, () => bench.tracker.track('large', { text })));
    void twelve();
    expect(await bench.tracker.flush()).toEqual({ queued: 0, delivered: 12, dropped: {} });
    const before = receiver.batches.length;
    void twelve();
    await bench.tracker.flush();
    expect(receiver.batches.slice(before).map(({ length }) => length)).toEqual([3, 3, 3, 3]);
  });

  it('of one event that is too large even so is dropped and told', async () => {
    const bench = new TestTracker(receiver);
    receiver.fault = () => ({ status: 413, body: '<html>' });
    void bench.tracker.track('large');
    await bench.tracker.flush();
    expect(bench.drops).toMatchObject([{ reason: 'refused', code: 'body_too_large' }]);
  });
});

describe('what fails for a while', () => {
  it.each([
    ['cut off', { status: 'cut' }, 'no_answer'],
    ['answered by a proxy', { status: 200, body: '<html>sign in</html>' }, 'status_200'],
    ['refused by a proxy, alone', { status: 400, body: '<html>no</html>' }, 'status_400'],
    ['a 202 of nothing', { status: 202, body: { results: [] } }, 'status_202'],
    ['led elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 'no_answer'],
    ['too slow', { status: 408, body: { code: 'request_timeout' } }, 'request_timeout'],
    ['overloaded', { status: 503, body: { code: 'overloaded' } }, 'overloaded'],
    ['without a queue', { status: 503, body: { code: 'queue_unavailable' } }, 'queue_unavailable'],
  ] as const)('%s: the event stays and goes again with the same key', async (_name, fault, code) => {
    const bench = new TestTracker(receiver);
    receiver.fault = () => fault;
    void bench.tracker.track('a');
    expect(await bench.tracker.flush()).toEqual({ queued: 1, delivered: 0, dropped: {} });
    expect(bench.failures).toMatchObject([{ code, retryInMs: 500 }]);
    receiver.fault = () => undefined;
    await bench.tracker.flush();
    const [first, second] = receiver.batches;
    expect(second).toEqual(first);
    expect(receiver.events).toHaveLength(1);
  });

  it('an answer that is lost makes no second event', async () => {
    const bench = new TestTracker(receiver);
    receiver.fault = () => ({ status: 'taken' });
    void bench.tracker.track('a');
    await bench.tracker.flush();
    receiver.fault = () => undefined;
    await bench.tracker.flush();
    expect([receiver.events.length, receiver.repeats]).toEqual([1, 1]);
  });

  it('pauses grow to their bound, each a part of its whole by chance', async () => {
    const bench = new TestTracker(receiver, { maxPauseMs: 6_000 });
    receiver.fault = () => ({ status: 500 });
    void bench.tracker.track('a');
    for (const random of [1, 1, 1, 1, 1, 0.25, 0]) {
      bench.random = random;
      await bench.tracker.flush();
    }
    const waits = bench.failures.map(({ retryInMs }) => retryInMs);
    expect(waits).toEqual([1_000, 2_000, 4_000, 6_000, 6_000, 1_500, 0]);
  });

  it.each([
    ['seconds', '20', 20_500],
    ['a date', 'Sat, 21 Nov 2026 09:31:00 GMT', 60_500],
    ['a date that is past', 'Sat, 21 Nov 2020 09:31:00 GMT', 500],
    ['more than an hour', '999999999', 3_600_500],
    ['nonsense', 'soon', 500],
  ])('Retry-After in %s is waited for', async (_name, retryAfter, retryInMs) => {
    const bench = new TestTracker(receiver);
    receiver.fault = () => ({
      status: 429,
      headers: { 'retry-after': retryAfter },
      body: { code: 'rate_limited' },
    });
    void bench.tracker.track('a');
    await bench.tracker.flush();
    expect(bench.failures).toEqual([{ code: 'rate_limited', status: 429, retryInMs }]);
    expect(bench.due).toEqual([retryInMs]);
  });

  it.each([
    [0, 1_000],
    [0.9, 1_900],
  ])(
    'after overloaded it is anywhere in the second behind the one asked for: %f',
    async (random, retryInMs) => {
      const bench = new TestTracker(receiver);
      bench.random = random;
      receiver.fault = () => ({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { code: 'overloaded' },
      });
      void bench.tracker.track('a');
      await bench.tracker.flush();
      expect(bench.failures).toMatchObject([{ code: 'overloaded', retryInMs }]);
    },
  );

  it('during a pause new events call nobody', async () => {
    const bench = new TestTracker(receiver, { flushAt: 2 });
    receiver.fault = () => ({ status: 500 });
    void bench.tracker.track('a');
    await bench.tracker.flush();
    for (let i = 0; i < 10; i += 1) void bench.tracker.track('b');
    expect(bench.due).toEqual([500]);
  });

  it('an attempt without an answer ends', async () => {
    const bench = new TestTracker(receiver, { timeoutMs: 5_000 });
    receiver.fault = () => ({ status: 'hang' });
    void bench.tracker.track('a');
    const flushed = bench.tracker.flush();
    while (bench.due[0] !== 5_000 || receiver.batches.length === 0) await new Promise(setImmediate);
    bench.pass(5_000);
    expect(await flushed).toMatchObject({ queued: 1 });
    expect(bench.failures).toMatchObject([{ code: 'no_answer' }]);
  });
});

describe.each([
  [401, 'invalid_token'],
  [403, 'organization_suspended'],
  [404, 'route_not_found'],
])('a %i of the platform', (status, code) => {
  it('stops the sender of a page, keeps the events and is told; flush tries again', async () => {
    const bench = new TestTracker(receiver, {}, new MemoryStore(), true);
    receiver.fault = () => ({ status, body: { code } });
    void bench.tracker.track('a');
    await bench.tracker.flush();
    void bench.tracker.track('b');
    bench.pass(3_600_000);
    bench.tracker.leave();
    bench.tracker.resume();
    expect(bench.failures).toEqual([{ code, status, retryInMs: undefined }]);
    expect(bench.tracker.counts.queued).toBe(2);
    expect(receiver.batches).toHaveLength(1);
    receiver.fault = () => undefined;
    expect(await bench.tracker.flush()).toMatchObject({ queued: 0, delivered: 2 });
  });

  it('is asked again after the longest pause where no next page does it', async () => {
    const bench = new TestTracker(receiver, { maxPauseMs: 60_000 });
    receiver.fault = () => ({ status, body: { code } });
    void bench.tracker.track('a');
    await bench.tracker.flush();
    void bench.tracker.track('b');
    expect(bench.failures).toEqual([{ code, status, retryInMs: 60_000 }]);
    expect(bench.due).toEqual([60_000]);
    receiver.fault = () => undefined;
    bench.pass(60_000);
    await bench.emptied();
    expect(bench.tracker.counts).toMatchObject({ queued: 0, delivered: 2 });
  });
});

describe.each([true, false])('something else than the platform answers, in a page: %s', (isPage) => {
  it.each([401, 403, 404])('a %i is no verdict on the key: the sender goes on by itself', async (status) => {
    const bench = new TestTracker(receiver, {}, new MemoryStore(), isPage);
    receiver.fault = () => ({ status, body: 'default backend - 404' });
    void bench.tracker.track('a');
    await bench.tracker.flush();
    expect(bench.failures).toEqual([{ code: `status_${status}`, status, retryInMs: 500 }]);
    receiver.fault = () => undefined;
    bench.pass(500);
    await bench.emptied();
    expect(bench.tracker.counts).toEqual({ queued: 0, delivered: 1, dropped: {} });
  });
});
