import { isDatabaseUnavailable } from '../errors.js';

/** More at once would make the first of them wait for the last. */
const LARGEST_GROUP = 64;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<Result>;
}

/**
 * Does together what comes while the same is being done: one transaction for all that wait in a place, and no wait
 * where nothing else comes. A group that fails is done again item by item, so that nobody bears another's fault, unless
 * it is the database that is away.
 */
export class Gathering<Item, Result> {
  private readonly waiting = new Map<string, Waiting<Item, Result>[]>();
  private readonly running = new Map<string, number>();

  /**
   * @param perform gives the results of items of one place in their order, and must be repeatable where it throws
   * @param atOnce groups of one place that are performed side by side
   */
  constructor(
    private readonly perform: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly atOnce = 1,
  ) {}

  /** The item's result, of a group that has begun after this call. */
  add(item: Item, place = ''): Promise<Result> {
    const done = Promise.withResolvers<Result>();
    const waiting = this.waiting.get(place) ?? [];
    waiting.push({ item, done });
    this.waiting.set(place, waiting);
    const running = this.running.get(place) ?? 0;
    if (running < this.atOnce) void this.work(place, running + 1);
    return done.promise;
  }

  private async work(place: string, running: number): Promise<void> {
    this.running.set(place, running);
    // Calls of the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let group = this.next(place); group.length > 0; group = this.next(place)) await this.settle(group);
    const others = (this.running.get(place) ?? 1) - 1;
    if (others > 0) this.running.set(place, others);
    else this.running.delete(place);
  }

  private next(place: string): Waiting<Item, Result>[] {
    const waiting = this.waiting.get(place) ?? [];
    const group = waiting.splice(0, LARGEST_GROUP);
    if (waiting.length === 0) this.waiting.delete(place);
    return group;
  }

  private async settle(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.perform(group.map(({ item }) => item));
      group.forEach(({ done }, at) => done.resolve(results[at] as Result));
    } catch (error) {
      if (group.length === 1 || isDatabaseUnavailable(error))
        for (const { done } of group) done.reject(error);
      else for (const one of group) await this.settle([one]);
    }
  }
}
