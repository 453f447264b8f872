import { DatabaseUnavailable } from '@customer-platform/database';
import fc from 'fast-check';
import { ConsumptionEnded } from '../errors.js';
import { ATTEMPTS, ChunkDelivery, type Receiver } from './chunk.delivery.js';
import type { Keyed } from './layers.js';

interface Numbered extends Keyed {
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
        await new ChunkDelivery(receiver).deliver(events);
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
        await new ChunkDelivery(receiver).deliver(events);
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
    await new ChunkDelivery(receiver).deliver(events);
    const [doneBeforeFirstPause] = pauses;
    // All but the ten events of the key of number 17 had their effect before anything was waited for.
    expect(doneBeforeFirstPause).toBe(390);
    expect(receiver.done).toHaveLength(399);
    expect(receiver.givenUp.map(({ place }) => place)).toEqual([17]);
  });

  it('waits once per round for a hundred events at fault, not once for each', async () => {
    const events = Array.from({ length: 100 }, (_, place) => ({ key: String(place), type: 'x', place }));
    const receiver = new Recorder(new Map(events.map(({ place }) => [place, 99])));
    await new ChunkDelivery(receiver).deliver(events);
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
    await new ChunkDelivery(receiver).deliver(events);
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
    await new ChunkDelivery(receiver).deliver([{ key: 'a', type: 'x', place: 0 }]);
    expect(receiver.givenUp).toHaveLength(1);
  });

  it('ends where the consumption ends, and leaves the rest undone', async () => {
    const receiver = new Recorder();
    receiver.handle = () => Promise.reject(new DatabaseUnavailable(new Error('away')));
    receiver.pause = () => Promise.reject(new ConsumptionEnded());
    const delivery = new ChunkDelivery(receiver).deliver([{ key: 'a', type: 'x', place: 0 }]);
    await expect(delivery).rejects.toBeInstanceOf(ConsumptionEnded);
    expect(receiver.givenUp).toHaveLength(0);
  });
});
