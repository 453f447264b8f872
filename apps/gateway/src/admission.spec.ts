import { LEAST } from './admission.js';
import { Crowd, quantile, type Scene } from './crowd.fixture.js';

/** A module that answers 700 requests a second at most. */
const MODULE = { workMs: 1_000 / 700 };
const scene = (perSecond: number, seconds: number, more: Partial<Scene> = {}): Scene => ({
  ...MODULE,
  perSecond,
  ms: seconds * 1_000,
  ...more,
});

/** A crowd whose module is known, and quick. */
function known(): Crowd {
  const crowd = new Crowd();
  expect(crowd.play(scene(100, 10)).refused).toBe(0);
  return crowd;
}

describe('under more than the module can do', () => {
  it.each([1.5, 3])('%f times as much: what is accepted is quick, and is as much as can be', (times) => {
    const crowd = known();
    const { accepted, refused } = crowd.play(scene(700 * times, 30));
    expect(quantile(accepted, 0.95)).toBeLessThan(100);
    expect(accepted.length).toBeGreaterThan(0.95 * 700 * 30);
    expect(refused).toBeGreaterThan(0.9 * 700 * (times - 1) * 30);
    expect(crowd.play(scene(600, 5)).accepted.length).toBeGreaterThan(0.99 * 600 * 5);
    expect(crowd.admission.limit).toBeUndefined();
    expect(crowd.play(scene(600, 20)).refused).toBe(0);
  });

  it('goes on so for as long as it lasts', () => {
    const crowd = known();
    crowd.play(scene(2_000, 120));
    const { accepted } = crowd.play(scene(2_000, 10));
    expect(quantile(accepted, 0.95)).toBeLessThan(100);
    expect(accepted.length).toBeGreaterThan(0.95 * 700 * 10);
  });

  it('asks a quicker module more at once', () => {
    const crowd = known();
    const { accepted } = crowd.play(scene(9_000, 20, { workMs: 1_000 / 3_000 }));
    expect(crowd.admission.limit).toBeGreaterThan(3 * LEAST);
    expect(accepted.length).toBeGreaterThan(0.95 * 3_000 * 20);
    expect(quantile(accepted, 0.95)).toBeLessThan(100);
  });
});

describe('nothing is refused', () => {
  it('up to nine tenths of what the module can do, however long', () => {
    expect(known().play(scene(630, 120)).refused).toBe(0);
  });

  it('of a thousand requests at once, while others come', () => {
    const crowd = known();
    expect(crowd.burst(1_000)).toBe(0);
    const { accepted, refused } = crowd.play(scene(200, 10));
    expect(refused).toBe(0);
    expect(accepted.length).toBeGreaterThanOrEqual(1_000 + 1_990);
  });

  it('of a module that has just been met, and compiles what it runs', () => {
    const crowd = new Crowd();
    expect(crowd.play(scene(400, 4, { workMs: 5 })).refused).toBe(0);
    expect(crowd.play(scene(400, 20)).refused).toBe(0);
  });

  it('of a module that was away', () => {
    const crowd = known();
    crowd.play(scene(1_400, 10));
    expect(crowd.admission.limit).toBeDefined();
    crowd.admission.away();
    expect(crowd.play(scene(400, 4, { workMs: 5 })).refused).toBe(0);
    expect(crowd.play(scene(400, 20)).refused).toBe(0);
  });

  it('of a module that is slow by its nature, and not for the crowd', () => {
    const crowd = new Crowd();
    expect(crowd.play(scene(500, 60, { naturalMs: 400 })).refused).toBe(0);
    expect(crowd.admission.waiting).toBeGreaterThan(3 * LEAST);
  });

  it('of calls that hang, which tell nothing', () => {
    const crowd = known();
    expect(crowd.play(scene(20, 20, { naturalMs: 60_000 })).refused).toBe(0);
  });

  it.each([
    [200, 0.5],
    [200, 1.5],
    [200, 3],
    [400, 1.5],
  ])('at %i a second while the module pauses once, for %f s', (perSecond, seconds) => {
    const crowd = known();
    expect(crowd.play(scene(perSecond, 5)).refused).toBe(0);
    expect(crowd.play(scene(perSecond, seconds, { workMs: Infinity })).refused).toBe(0);
    expect(crowd.play(scene(perSecond, 10)).refused).toBe(0);
  });

  it.each([5, 600, 10_000])('of a crowd after %i s of silence behind an overload', (seconds) => {
    const crowd = known();
    crowd.play(scene(1_400, 10));
    expect(crowd.admission.limit).toBeDefined();
    crowd.play(scene(0, 1));
    crowd.now += seconds * 1_000;
    expect(crowd.burst(100)).toBe(0);
    expect(crowd.play(scene(200, 5)).refused).toBe(0);
  });

  describe.each([0, 100, 300, 500])('of 64 at once, where a turn of its own loop takes %i ms', (turnMs) => {
    const starved = { perSecond: 0, workMs: 2_000 / 64 };

    it('that take two seconds', () => {
      const crowd = known();
      crowd.turnMs = turnMs;
      expect(crowd.burst(64)).toBe(0);
      expect(crowd.play({ ...starved, ms: 2_500 }).refused).toBe(0);
    });

    it.each([2, 4])('that come %i times, each through within their part of two seconds', (times) => {
      const crowd = known();
      crowd.turnMs = turnMs;
      for (let n = 0; n < times; n += 1) {
        expect(crowd.burst(64 - crowd.admission.waiting)).toBe(0);
        crowd.play({ perSecond: 0, workMs: starved.workMs / times, ms: 2_000 / times });
      }
    });

    it('each of which comes again when it is answered, for two seconds', () => {
      const crowd = known();
      crowd.turnMs = turnMs;
      for (let n = 0; n < 20; n += 1) {
        expect(crowd.burst(64 - crowd.admission.waiting)).toBe(0);
        crowd.play({ ...starved, ms: 100 });
      }
    });
  });

  it.each([10, LEAST])('to %i callers that each wait for their answers, however slow', (callers) => {
    const crowd = known();
    for (let turn = 0; turn < 500; turn += 1) {
      expect(crowd.burst(callers - crowd.admission.waiting)).toBe(0);
      crowd.play(scene(0, 0.1, { workMs: 20 }));
    }
    expect(crowd.admission.limit).toBeUndefined();
  });
});

it('learns within seconds that a module has become slow by its nature', () => {
  const crowd = known();
  crowd.play(scene(500, 15, { naturalMs: 400 }));
  expect(crowd.play(scene(500, 60, { naturalMs: 400 })).refused).toBe(0);
});

describe('of an overloaded module', () => {
  function overloaded(): Crowd {
    const crowd = known();
    crowd.play(scene(1_400, 10));
    return crowd;
  }

  it('files are refused first, then what is managed, then events; signing in and opting out never are', () => {
    const crowd = overloaded();
    crowd.play(scene(0, 0.2));
    const { admission } = crowd;
    admission.admits('essential', '192.0.2.1');
    const limit = admission.limit ?? 0;
    const admitted: [number, string[]][] = [];
    const classes = ['essential', 'ingestion', 'sending', 'member', 'management', 'bulk'] as const;
    for (let n = 0; n < 3 * limit; n += 1) {
      const admits = classes.filter((route) => admission.admits(route, '192.0.2.1'));
      if (admits.length !== admitted.at(-1)?.[1].length) admitted.push([admission.waiting, admits]);
      admission.begin('ingestion', '192.0.2.1', () => false);
    }
    expect(admitted).toEqual([
      [0, [...classes]],
      [Math.ceil(limit * 0.5), classes.slice(0, 5)],
      [Math.ceil(limit * 0.75), classes.slice(0, 4)],
      [Math.ceil(limit), ['essential']],
    ]);
  });

  it('events do not wait for what is managed', () => {
    const { admission } = overloaded();
    for (let n = 0; n < 100; n += 1) admission.begin('management', '192.0.2.1', () => false);
    expect(admission.admits('management', '192.0.2.1')).toBe(false);
    expect(admission.admits('ingestion', '198.51.100.1')).toBe(true);
  });

  it('those that are never refused leave half of it to others, however many they are', () => {
    const crowd = overloaded();
    crowd.play(scene(0, 0.2));
    const { admission } = crowd;
    admission.admits('essential', '192.0.2.1');
    const limit = admission.limit ?? 0;
    for (let n = 0; n < 10 * limit; n += 1) admission.begin('essential', '192.0.2.1', () => false);
    let admitted = 0;
    for (; admission.admits('ingestion', '192.0.2.1'); admitted += 1)
      admission.begin('ingestion', '192.0.2.1', () => false);
    expect(admitted).toBe(Math.ceil(limit / 2));
    expect(admission.admits('ingestion', '198.51.100.1')).toBe(true);
    expect(admission.admits('essential', '192.0.2.1')).toBe(true);
  });

  it('those that are never refused drive none out that waits', () => {
    const crowd = known();
    const { admission } = crowd;
    for (let n = 0; n < 1_000; n += 1) admission.begin('essential', '192.0.2.1', () => true);
    let driven = 0;
    const others = Array.from({ length: 20 }, () =>
      admission.begin('management', '192.0.2.1', () => (driven += 1) > 0),
    );
    for (let n = 0; n < 20 && admission.limit === undefined; n += 1)
      crowd.play(scene(100, 0.5, { workMs: 20 }));
    expect(admission.limit).toBeDefined();
    expect([driven, others.filter((one) => admission.leave(one)).length]).toEqual([0, 20]);
  });

  it('a network that asks little is let in before one that asks much', () => {
    const crowd = overloaded();
    const { admission } = crowd;
    while (admission.admits('ingestion', '192.0.2.1')) admission.begin('ingestion', '192.0.2.1', () => false);
    expect(admission.admits('ingestion', '192.0.2.77')).toBe(false);
    expect(admission.admits('ingestion', '198.51.100.1')).toBe(true);
  });
});

it.each([
  [20, false],
  [200, true],
])('where turns of its own loop take %i ms, it limits: %s', (turnMs, limits) => {
  const crowd = known();
  crowd.turnMs = turnMs;
  for (let n = 0; n < 100; n += 1) {
    crowd.burst(60);
    crowd.play(scene(0, 0.2, { workMs: 0.1 }));
  }
  expect(crowd.admission.limit !== undefined).toBe(limits);
});
