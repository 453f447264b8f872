import { DatabaseUnavailable } from '@customer-platform/database';
import fc from 'fast-check';
import { ConsumptionEnded } from '../errors.js';
import {
  ATTEMPTS,
  ChunkDelivery,
  type Delivered,
  MOST_STALLS,
  type Receiver,
  TRIES_TOGETHER,
} from './chunk.delivery.js';
import { Stalls, STALLS, UNPROVEN } from './stalls.js';

interface Numbered extends Delivered {
  readonly place: number;
}

/** A receiver that keeps what took effect, fails at given events, and counts its pauses. */
class Recorder implements Receiver<Numbered> {
  readonly done: Numbered[] = [];
  readonly givenUp: Numbered[] = [];
  readonly tries = new Map<number, number>();
  pauses: number[] = [];
  calls = 0;

  constructor(private readonly failures: ReadonlyMap<number, number> = new Map()) {}

  handle(_type: string, run: readonly Numbered[]): Promise<void> {
    this.calls += 1;
    for (const event of run) {
      const tries = this.tries.get(event.place) ?? 0;
      const limit = this.failures.get(event.place) ?? 0;
      if (run.length === 1) this.tries.set(event.place, tries + 1);
      if (tries < limit) return Promise.reject(new Error(`event ${String(event.place)} is at fault`));
    }
    this.done.push(...run);
    return Promise.resolve();
  }

  giveUp(event: Numbered): Promise<void> {
    this.givenUp.push(event);
    return Promise.resolve();
  }

  pause(ms: number): Promise<void> {
    this.pauses.push(ms);
    return Promise.resolve();
  }
}

function deliveryTo(receiver: Receiver<Numbered>, stalls = someStalls()): ChunkDelivery<Numbered> {
  return new ChunkDelivery(receiver, stalls);
}

function someStalls(now?: () => number): Stalls<Numbered> {
  return new Stalls(({ place }) => String(place), now);
}

const sequences = fc
  .array(
    fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      type: fc.constantFrom('x', 'y', 'z'),
      failures: fc.oneof(
        { weight: 4, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.nat({ max: 4 }) },
      ),
    }),
    { maxLength: 50 },
  )
  .map((list) => list.map((event, place) => ({ ...event, place })));

describe('ChunkDelivery', () => {
  it('gives every event its effect once, or gives it up after three tries, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (events) => {
        const receiver = new Recorder(new Map(events.map(({ place, failures }) => [place, failures])));
        await deliveryTo(receiver).deliver(events);
        const poison = events.filter(({ failures }) => failures >= ATTEMPTS).map(({ place }) => place);
        const good = events.filter(({ failures }) => failures < ATTEMPTS).map(({ place }) => place);
        expect(receiver.givenUp.map(({ place }) => place).sort((a, b) => a - b)).toEqual(poison);
        expect(receiver.done.map(({ place }) => place).sort((a, b) => a - b)).toEqual(good);
      }),
    );
  });

  it('keeps the order of every key, with events at fault among them', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (events) => {
        const receiver = new Recorder(new Map(events.map(({ place, failures }) => [place, failures])));
        await deliveryTo(receiver).deliver(events);
        for (const key of ['a', 'b', 'c', 'd']) {
          const places = receiver.done.filter((event) => event.key === key).map(({ place }) => place);
          expect(places).toEqual([...places].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('does not make other keys wait for an event at fault', async () => {
    const events = Array.from({ length: 400 }, (_, place) => ({ key: String(place % 40), type: 'x', place }));
    const receiver = new Recorder(new Map([[17, 99]]));
    const pauses: number[] = [];
    receiver.pause = (ms) => {
      pauses.push(receiver.done.length, ms);
      return Promise.resolve();
    };
    await deliveryTo(receiver).deliver(events);
    const [doneBeforeFirstPause] = pauses;
    // All but the ten events of the key of number 17 had their effect before anything was waited for.
    expect(doneBeforeFirstPause).toBe(390);
    expect(receiver.done).toHaveLength(399);
    expect(receiver.givenUp.map(({ place }) => place)).toEqual([17]);
  });

  it('waits once per round for a hundred events at fault, not once for each', async () => {
    const events = Array.from({ length: 100 }, (_, place) => ({ key: String(place), type: 'x', place }));
    const receiver = new Recorder(new Map(events.map(({ place }) => [place, 99])));
    await deliveryTo(receiver).deliver(events);
    expect(receiver.givenUp).toHaveLength(100);
    expect(receiver.pauses).toHaveLength(2);
  });

  it('tries an infrastructure error again for as long as it lasts and blames no event', async () => {
    const events = [0, 1, 2].map((place) => ({ key: 'a', type: 'x', place }));
    const receiver = new Recorder();
    const handle = receiver.handle.bind(receiver);
    let outage = 25;
    receiver.handle = (type, run) => {
      outage -= 1;
      return outage >= 0 ? Promise.reject(new DatabaseUnavailable(new Error('away'))) : handle(type, run);
    };
    await deliveryTo(receiver).deliver(events);
    expect(receiver.done).toHaveLength(3);
    expect(receiver.givenUp).toHaveLength(0);
    expect(receiver.pauses).toHaveLength(25);
  });

  it('gives up for good only once that itself has been kept', async () => {
    const receiver = new Recorder(new Map([[0, 99]]));
    const kept = receiver.giveUp.bind(receiver);
    let away = 4;
    receiver.giveUp = (event) => {
      away -= 1;
      return away >= 0 ? Promise.reject(new Error('the table is locked')) : kept(event);
    };
    await deliveryTo(receiver).deliver([{ key: 'a', type: 'x', place: 0 }]);
    expect(receiver.givenUp).toHaveLength(1);
  });

  it('ends where the consumption ends, and leaves the rest undone', async () => {
    const receiver = new Recorder();
    receiver.handle = () => Promise.reject(new DatabaseUnavailable(new Error('away')));
    receiver.pause = () => Promise.reject(new ConsumptionEnded());
    const delivery = deliveryTo(receiver).deliver([{ key: 'a', type: 'x', place: 0 }]);
    await expect(delivery).rejects.toBeInstanceOf(ConsumptionEnded);
    expect(receiver.givenUp).toHaveLength(0);
  });
});

/** As pg tells of a failed statement. */
function failedWith(code: string): Error {
  return new DatabaseUnavailable(Object.assign(new Error('failed'), { severity: 'ERROR', code }));
}

describe('ChunkDelivery of an event that alone runs into a time limit', () => {
  const partitions = (count: number): Numbered[] =>
    Array.from({ length: count }, (_, place) => ({
      key: String(place % 10),
      type: 'x',
      part: `topic/${String(place % 5)}`,
      place,
    }));
  /** Stalls with whatever run holds one of these; all others come through. */
  class Stalling extends Recorder {
    runs: number[][] = [];
    constructor(
      readonly slow: ReadonlySet<number>,
      private readonly code = '57014',
    ) {
      super();
    }

    override handle(type: string, run: readonly Numbered[]): Promise<void> {
      this.runs.push(run.map(({ place }) => place));
      if (run.some(({ place }) => this.slow.has(place))) return Promise.reject(failedWith(this.code));
      return super.handle(type, run);
    }
  }
  const aFurther = (place: number): Numbered => ({
    key: `own ${String(place)}`,
    type: 'x',
    part: 'topic/0',
    owner: 'only',
    place,
  });
  const placesOf = (events: readonly Numbered[]): number[] => events.map(({ place }) => place);
  const runsWith = ({ runs }: Stalling, place: number): number =>
    runs.filter((run) => run.includes(place)).length;

  it('lets all others have their effect, but for what follows it by key', async () => {
    const receiver = new Stalling(new Set([17]));
    const left = await deliveryTo(receiver).deliver(partitions(50));
    expect(placesOf(left)).toEqual([17, 27, 37, 47]);
    expect(receiver.done).toHaveLength(46);
    expect(receiver.givenUp).toEqual([]);
    // Together, then its partition, then alone.
    expect(runsWith(receiver, 17)).toBe(TRIES_TOGETHER + 2);
    // Other partitions pass whole.
    expect(receiver.runs).toContainEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
  });

  it('gives it up once others came through between its tries, and then what follows it passes', async () => {
    const receiver = new Stalling(new Set([17]));
    const stalls = someStalls();
    let left: readonly Numbered[] = partitions(50);
    for (let times = 1; times < STALLS; times += 1) {
      left = await deliveryTo(receiver, stalls).deliver(partitions(50));
      expect(placesOf(left)).toEqual([17, 27, 37, 47]);
    }
    const before = receiver.done.length;
    await expect(deliveryTo(receiver, stalls).deliver(partitions(50))).resolves.toEqual([]);
    expect(placesOf(receiver.givenUp)).toEqual([17]);
    // Once it is known, it is tried after all others.
    expect(placesOf(receiver.done.slice(before, before + 46))).not.toContain(27);
    expect(placesOf(receiver.done.slice(-3))).toEqual([27, 37, 47]);
  });

  it('tries few of an owner of whom all stall, lets the others have their effect first, and gives up all in the end', async () => {
    const events = partitions(60).map((event) => ({
      ...event,
      key: String(event.place),
      owner: event.place % 6 === 5 ? 'other' : 'slow',
    }));
    const slow = events.filter(({ owner }) => owner === 'slow');
    const receiver = new Stalling(new Set(placesOf(slow)));
    const stalls = someStalls();
    let left: readonly Numbered[] = events;
    for (let round = 0; left.length > 0 && round < slow.length; round += 1) {
      const before = receiver.runs.length;
      // As one of others comes with each round.
      const fresh = {
        key: `new ${String(round)}`,
        type: 'x',
        part: 'topic/0',
        owner: 'other',
        place: 100 + round,
      };
      left = await deliveryTo(receiver, stalls).deliver([...left, fresh]);
      const alone = receiver.runs
        .slice(before)
        .filter(([only, ...more]) => only !== undefined && more.length === 0);
      expect(alone.filter(([only = 0]) => receiver.slow.has(only)).length).toBeLessThanOrEqual(
        2 * MOST_STALLS,
      );
      expect(receiver.done.filter(({ place }) => place < 100)).toHaveLength(10);
    }
    expect(placesOf(receiver.givenUp).sort((a, b) => a - b)).toEqual(placesOf(slow));
  });

  it('lets those of an owner through of whom five are known to stall, and nobody else comes', async () => {
    const events = partitions(50).map(({ place }) => aFurther(place));
    const receiver = new Stalling(new Set([0, 1, 2, 3, 4, 49]));
    const stalls = someStalls();
    const rounds = 6;
    let left: readonly Numbered[] = events;
    for (let round = 0; round < rounds; round += 1)
      left = await deliveryTo(receiver, stalls).deliver([...left, aFurther(100 + round)]);
    expect(left).toEqual([]);
    expect(receiver.done).toHaveLength(44 + rounds);
    expect(placesOf(receiver.givenUp).sort((a, b) => a - b)).toEqual([...receiver.slow]);
  });

  it('blames none while nothing else comes through', async () => {
    const receiver = new Stalling(new Set([0, 1, 2]));
    const stalls = someStalls();
    const events = partitions(3);
    for (let times = 0; times < 3 * STALLS; times += 1)
      expect(await deliveryTo(receiver, stalls).deliver(events)).toEqual(events);
    expect(receiver.givenUp).toEqual([]);
    const back = new Recorder();
    await expect(deliveryTo(back, stalls).deliver(events)).resolves.toEqual([]);
    expect(placesOf(back.done)).toEqual([0, 1, 2]);
  });

  it('takes what is delivered again for no proof by itself', async () => {
    const receiver = new Stalling(new Set([2]));
    const stalls = someStalls();
    const events = partitions(3).map((event) => ({ ...event, part: 'topic/0' }));
    const deliver = (list: readonly Numbered[]): Promise<readonly Numbered[]> =>
      deliveryTo(receiver, stalls).deliver(list);
    // It is the last of its partition: what is before it came through before it stalled first.
    for (let times = 0; times < 3 * STALLS; times += 1) expect(placesOf(await deliver(events))).toEqual([2]);
    expect(receiver.givenUp).toEqual([]);
    await expect(deliver([...events, { key: '9', type: 'x', part: 'topic/0', place: 3 }])).resolves.toEqual(
      [],
    );
    expect(placesOf(receiver.givenUp)).toEqual([2]);
  });

  describe('of a type of which nothing else comes', () => {
    const rare: Numbered = { key: 'rare', type: 'rare', part: 'topic/0', place: 99 };
    /** Tries it so often, evenly over so long. @returns whether it has been given up */
    const givenUpAfter = async (
      stalls: number,
      ms: number,
      others: readonly Numbered[] = [],
    ): Promise<boolean> => {
      let now = 0;
      const known = someStalls(() => now);
      const receiver = new Stalling(new Set([rare.place]));
      for (let times = 0; times < stalls; times += 1) {
        now = (ms / (stalls - 1)) * times;
        await deliveryTo(receiver, known).deliver([rare, ...others]);
      }
      return receiver.givenUp.length > 0;
    };

    it.each([
      ['beside others', UNPROVEN.besideOthers, partitions(20)],
      ['alone', UNPROVEN.alone, []],
    ] as const)('waits %s for proof, and not for ever', async (_, { stalls, ms }, others) => {
      expect(await givenUpAfter(stalls, ms, others)).toBe(true);
      expect(await givenUpAfter(stalls - 1, ms, others)).toBe(false);
      expect(await givenUpAfter(stalls * 3, ms - 1, others)).toBe(false);
    });
  });

  it('does not give up one that waits for a lock of others', async () => {
    const receiver = new Stalling(new Set([17]), '55P03');
    const stalls = someStalls();
    for (let times = 0; times < 2 * STALLS; times += 1)
      expect(await deliveryTo(receiver, stalls).deliver(partitions(50))).toHaveLength(4);
    expect(receiver.givenUp).toEqual([]);
  });

  it('keeps the order of every key, whatever stalls and whatever is at fault', async () => {
    const stalling = sequences.chain((events) =>
      fc.tuple(fc.constant(events), fc.subarray(events.map(({ place }) => place))),
    );
    await fc.assert(
      fc.asyncProperty(stalling, async ([events, slow]) => {
        const poison = new Map(events.map(({ place, failures }) => [place, failures]));
        const receiver = new Stalling(new Set(slow));
        const others = new Recorder(poison);
        const handle = others.handle.bind(others);
        receiver.handle = (type, run) =>
          run.some(({ place }) => receiver.slow.has(place))
            ? Promise.reject(failedWith('57014'))
            : handle(type, run);
        const stalls = someStalls();
        const left = await deliveryTo(receiver, stalls).deliver(events);
        const settled = [...others.done, ...receiver.givenUp, ...left];
        expect(placesOf(settled).sort((a, b) => a - b)).toEqual(events.map(({ place }) => place));
        for (const key of ['a', 'b', 'c', 'd']) {
          const places = placesOf(others.done.filter((event) => event.key === key));
          expect(places).toEqual([...places].sort((a, b) => a - b));
          const [first] = left.filter((event) => event.key === key);
          if (first) expect(places.every((place) => place < first.place)).toBe(true);
        }
      }),
    );
  });
});
