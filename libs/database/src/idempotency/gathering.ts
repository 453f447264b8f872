/** Groups of one place that are performed at the same time. */
const AT_ONCE = 2;
const LARGEST_GROUP = 48;

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Performs what comes in at the same time in groups: the first items of a place go at once, those that come while they
 * are performed wait and go together. Nobody waits for company, and a crowd costs few rounds.
 */
export class Gathering<Item, Result> {
  private readonly waiting = new Map<string, Waiting<Item, Result>[]>();
  private readonly running = new Map<string, number>();

  /**
   * @param perform gives the results in the order of the items
   * @param dividable whether items of a group that failed with this error are performed again, each alone
   */
  constructor(
    private readonly perform: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly dividable: (error: unknown) => boolean,
  ) {}

  /** The result of this item, or the error of its group. */
  add(place: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(place) ?? [];
      waiting.push({ item, resolve, reject });
      this.waiting.set(place, waiting);
      this.pump(place);
    });
  }

  private pump(place: string): void {
    const waiting = this.waiting.get(place) ?? [];
    const running = this.running.get(place) ?? 0;
    if (waiting.length === 0) {
      this.waiting.delete(place);
      if (running === 0) this.running.delete(place);
    } else if (running < AT_ONCE) {
      this.running.set(place, running + 1);
      void this.settle(waiting.splice(0, LARGEST_GROUP)).finally(() => {
        this.running.set(place, (this.running.get(place) ?? 1) - 1);
        this.pump(place);
      });
    }
  }

  private async settle(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.perform(group.map(({ item }) => item));
      if (results.length !== group.length) throw new Error('A group has not as many results as items');
      results.forEach((result, at) => group[at]?.resolve(result));
    } catch (error) {
      if (group.length > 1 && this.dividable(error)) {
        for (const one of group) await this.settle([one]);
      } else for (const one of group) one.reject(error);
    }
  }
}
