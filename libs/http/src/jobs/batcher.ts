import { runForNobody } from '../observe/correlation.js';
import { log } from '../observe/log.js';

/** Nothing, or a result for each item, in their order. */
type ResultsOf<Result> = [Result] extends [void] ? void : readonly Result[];

/** How a {@link Batcher} makes batches. */
interface BatcherOptions<Item, Result> {
  /** Works on items of one place, in the order in which they came. */
  readonly run: (items: readonly Item[]) => Promise<ResultsOf<Result>>;
  /** How long the first item waits for others, in milliseconds; default: until this turn of the event loop is over. */
  readonly waitMs?: number;
  /** So much weight is enough for one batch; a heavier item goes alone. Default 64: the first would wait for the last. */
  readonly enough?: number;
  /** How many batches of one place may be worked on at once; default 1. */
  readonly parallel?: number;
  /**
   * Whether a batch that failed so is worked on again item by item, so that nobody bears another's fault, as many at once as
   * batches may be: `run` must be repeatable where it throws. Default: never.
   */
  readonly singlyAfter?: (error: unknown) => boolean;
  /** Tells whether an item that failed so alone took long. After two in a row the rest fail as the batch did. Default: never. */
  readonly isSlow?: (error: unknown) => boolean;
}

/** Items in a row that took long alone: then it is not one of them. */
const MOST_SLOW = 2;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly weight: number;
  readonly done: PromiseWithResolvers<Result>;
}

/** What waits and goes on in one place. */
class Place<Item, Result> {
  waiting: Waiting<Item, Result>[] = [];
  weight = 0;
  running = 0;
  /** Ends the wait for more. */
  cancel: (() => void) | undefined;
}

/**
 * Does together what comes one by one, or comes while the same is being done: a transaction for a hundred items costs
 * hardly more than one for a single item.
 */
export class Batcher<Item, Result = void> {
  private readonly places = new Map<string, Place<Item, Result>>();
  private readonly enough: number;
  private readonly parallel: number;
  private hurryUntil = 0;

  constructor(private readonly options: BatcherOptions<Item, Result>) {
    this.enough = options.enough ?? 64;
    this.parallel = options.parallel ?? 1;
  }

  /** The item's result, of a batch that begins after this call. @throws what its batch threw */
  add(item: Item, weight = 1, at = ''): Promise<Result> {
    const done = Promise.withResolvers<Result>();
    let place = this.places.get(at);
    if (!place) {
      place = new Place();
      this.places.set(at, place);
    }
    place.waiting.push({ item, weight, done });
    place.weight += weight;
    this.schedule(place, at);
    return done.promise;
  }

  /** For `ms` from now on nothing waits for more to come. */
  hurry(ms: number): void {
    this.hurryUntil = performance.now() + ms;
    for (const [at, place] of this.places) this.schedule(place, at);
  }

  private schedule(place: Place<Item, Result>, at: string): void {
    if (place.waiting.length === 0 || place.running >= this.parallel) return;
    if (place.weight >= this.enough || performance.now() < this.hurryUntil) this.start(place, at);
    else place.cancel ??= later(() => this.start(place, at), this.options.waitMs);
  }

  private start(place: Place<Item, Result>, at: string): void {
    place.cancel?.();
    place.cancel = undefined;
    if (place.waiting.length === 0 || place.running >= this.parallel) return;
    // Whoever came first may leave: the others' answers do not hang on it.
    runForNobody(() => this.work(place, at, this.take(place))).catch((error: unknown) => {
      log.error({ err: error }, 'A batch was not settled');
    });
    this.schedule(place, at);
  }

  private take(place: Place<Item, Result>): Waiting<Item, Result>[] {
    let count = 0;
    let weight = 0;
    for (const waiting of place.waiting) {
      if (count > 0 && weight + waiting.weight > this.enough) break;
      weight += waiting.weight;
      count += 1;
    }
    place.weight -= weight;
    return place.waiting.splice(0, count);
  }

  private async work(
    place: Place<Item, Result>,
    at: string,
    batch: readonly Waiting<Item, Result>[],
  ): Promise<void> {
    place.running += 1;
    try {
      await this.settle(batch);
    } finally {
      place.running -= 1;
    }
    if (at !== '' && place.running === 0 && place.waiting.length === 0) this.places.delete(at);
    else this.schedule(place, at);
  }

  private async settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results: unknown = await this.options.run(batch.map(({ item }) => item));
      batch.forEach(({ done }, at) =>
        done.resolve((results as readonly Result[] | undefined)?.[at] as Result),
      );
    } catch (error) {
      if (batch.length > 1 && this.options.singlyAfter?.(error)) await this.settleSingly(batch, error);
      else for (const { done } of batch) done.reject(error);
    }
  }

  /** Tries each alone, as many at once as batches may be: beside one that takes long the others go on. */
  private async settleSingly(batch: readonly Waiting<Item, Result>[], error: unknown): Promise<void> {
    const rest = batch.values();
    let slow = 0;
    let lastSlow = error;
    const one = async (): Promise<void> => {
      for (const waiting of rest) {
        if (slow >= MOST_SLOW) {
          waiting.done.reject(lastSlow);
          continue;
        }
        await this.settle([waiting]);
        const failure = await waiting.done.promise.then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const isSlow = failure !== undefined && this.options.isSlow?.(failure) === true;
        slow = isSlow ? slow + 1 : 0;
        if (isSlow) lastSlow = failure;
      }
    };
    await Promise.all(Array.from({ length: this.parallel }, one));
  }
}

/** @returns what calls it off */
function later(start: () => void, ms: number | undefined): () => void {
  if (ms === undefined) {
    const soon = setImmediate(start);
    return () => clearImmediate(soon);
  }
  const timer = setTimeout(start, ms);
  return () => clearTimeout(timer);
}
