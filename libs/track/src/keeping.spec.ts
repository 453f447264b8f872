import { TestTracker } from './bench.fixture.js';
import { Receiver } from './receiver.fixture.js';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

const reasons = (bench: TestTracker): string[] => bench.drops.map(({ reason }) => reason);

it.each([
  ['an address that is none', { url: 'events' }],
  ['a key that is none', { key: 'cpk_live_…' }],
])('%s is told at once', (_name, options) => {
  expect(() => new TestTracker(receiver, options)).toThrow(/url|bytestring/i);
});

describe('the bounds of the queue', () => {
  it('a full one drops what comes, counted and told', async () => {
    const bench = new TestTracker(receiver, { maxEvents: 2 });
    const kept = ['a', 'b', 'c', 'd'].map((name) => bench.tracker.track(name));
    expect(await Promise.all(kept)).toEqual(['memory', 'memory', 'dropped', 'dropped']);
    expect(bench.drops).toMatchObject([
      { event: { event: 'c' }, reason: 'queue_full', code: 'queue_full' },
      { event: { event: 'd' } },
    ]);
    expect(await bench.tracker.flush()).toEqual({ queued: 0, delivered: 2, dropped: { queue_full: 2 } });
    expect(await bench.tracker.track('e')).toBe('memory');
  });

  it('bytes count as well', async () => {
    const bench = new TestTracker(receiver, { maxBytes: 5_000 });
    const text = 'x'.repeat(2_000);
    const kept = [1, 2, 3].map(() => bench.tracker.track('a', { text }));
    expect(await Promise.all(kept)).toEqual(['memory', 'memory', 'dropped']);
  });
});

describe('consent', () => {
  it('while it is pending nothing is sent, within a bound; once granted all is', async () => {
    const bench = new TestTracker(receiver, { consent: 'pending', maxEvents: 2 });
    for (const name of ['a', 'b', 'c']) void bench.tracker.track(name);
    expect(await bench.tracker.flush()).toEqual({ queued: 2, delivered: 0, dropped: { queue_full: 1 } });
    bench.tracker.leave();
    expect([bench.due, bench.store.count]).toEqual([[], 0]);
    bench.now += 5_000;
    bench.tracker.setConsent('granted');
    await bench.tracker.flush();
    expect(receiver.events.map(({ event, occurred_at: at }) => [event, at])).toEqual([
      ['a', '2026-11-21T09:30:00.000Z'],
      ['b', '2026-11-21T09:30:00.001Z'],
    ]);
  });

  it('denied drops and counts what waited, what was stored and what comes', async () => {
    const bench = new TestTracker(receiver);
    void bench.tracker.track('stored');
    bench.tracker.setConsent('pending');
    void bench.tracker.track('waiting');
    bench.tracker.setConsent('denied');
    expect(await bench.tracker.track('later')).toBe('dropped');
    expect(await bench.tracker.flush()).toEqual({ queued: 0, delivered: 0, dropped: { consent_denied: 3 } });
    expect(bench.drops.map(({ event }) => event.event).sort()).toEqual(['later', 'stored', 'waiting']);
    expect([receiver.batches, bench.due]).toEqual([[], []]);
  });

  it('denied while events are on their way drops those that come back', async () => {
    const bench = new TestTracker(receiver);
    receiver.fault = () => {
      bench.tracker.setConsent('denied');
      return { status: 503 };
    };
    void bench.tracker.track('a');
    await bench.tracker.flush();
    expect(bench.tracker.counts).toEqual({ queued: 0, delivered: 0, dropped: { consent_denied: 1 } });
    expect(bench.due).toEqual([]);
  });
});

describe('the end', () => {
  it('sends what is there and takes no more', async () => {
    const bench = new TestTracker(receiver);
    void bench.tracker.track('a');
    expect(await bench.tracker.close()).toMatchObject({ queued: 0, delivered: 1 });
    expect(await bench.tracker.track('b')).toBe('dropped');
    expect(reasons(bench)).toEqual(['closed']);
    expect(await bench.tracker.close()).toMatchObject({ delivered: 1 });
    expect(bench.due).toEqual([]);
  });

  it('of a page hands over what fits, and nothing twice', async () => {
    const bench = new TestTracker(receiver, { maxBytes: 2 ** 24 });
    const text = 'x'.repeat(20_000);
    for (let i = 0; i < 5; i += 1) void bench.tracker.track('a', { text });
    bench.tracker.leave();
    bench.tracker.leave();
    while (bench.tracker.counts.delivered < 3) await new Promise(setImmediate);
    expect(receiver.batches.map(({ length }) => length)).toEqual([3]);
    await bench.tracker.flush();
    expect([receiver.events.length, receiver.repeats]).toEqual([5, 0]);
  });
});

it('a clock that is set back during a pause makes it no longer', async () => {
  const bench = new TestTracker(receiver);
  receiver.fault = () => ({ status: 429, headers: { 'retry-after': '60' }, body: { code: 'rate_limited' } });
  void bench.tracker.track('a');
  await bench.tracker.flush();
  receiver.fault = () => undefined;
  bench.now -= 86_400_000;
  expect(await bench.tracker.flush()).toMatchObject({ queued: 0, delivered: 1 });
});

it.each([
  ['no JSON', '{"event":"half', 'malformed_json'],
  ['larger than any batch', JSON.stringify({ text: 'x'.repeat(600_000) }), 'body_too_large'],
])('what somebody else has put into the storage, %s, holds up nothing', async (_name, text, code) => {
  const bench = new TestTracker(receiver);
  await bench.store.add({ id: '0', text });
  void bench.tracker.track('good');
  receiver.fault = (events, bytes) => {
    if (bytes > 500 * 1024) return { status: 413, body: { code: 'body_too_large' } };
    return events.length === 0 ? { status: 400, body: { code: 'malformed_json' } } : undefined;
  };
  expect(await bench.tracker.flush()).toMatchObject({ queued: 0, delivered: 1, dropped: { refused: 1 } });
  expect(bench.drops).toMatchObject([{ reason: 'refused', code }]);
});
