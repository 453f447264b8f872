/** How {@link Gathering} gathers. */
export interface GatheringOptions<T> {
  /** How long the first piece waits for company, in milliseconds. */
  readonly forMs: number;
  /** So much weight is enough for one run; a heavier piece runs by itself. */
  readonly enough: number;
  /** How many runs may go on at once. */
  readonly parallel: number;
  /** Works on pieces in the order in which they came. */
  run(pieces: readonly T[]): Promise<void>;
}

interface Waiting<T> {
  readonly piece: T;
  readonly weight: number;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Gathers pieces of work that come one by one, to be done together: a transaction for a hundred events costs hardly
 * more than one for a single event.
 */
export class Gathering<T> {
  private waiting: Waiting<T>[] = [];
  private weight = 0;
  private running = 0;
  private timer: NodeJS.Timeout | undefined;
  private hurryUntil = 0;

  constructor(private readonly options: GatheringOptions<T>) {}

  /** Resolves when the piece is done; throws what its run threw. */
  add(piece: T, weight: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.waiting.push({ piece, weight, done });
    this.weight += weight;
    this.schedule();
    return done.promise;
  }

  /** For `ms` from now on nothing waits for company. */
  hurry(ms: number): void {
    this.hurryUntil = performance.now() + ms;
    this.schedule();
  }

  private schedule(): void {
    if (this.waiting.length === 0 || this.running >= this.options.parallel) return;
    if (this.weight >= this.options.enough || performance.now() < this.hurryUntil) this.start();
    else this.timer ??= setTimeout(() => this.start(), this.options.forMs);
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting.length === 0 || this.running >= this.options.parallel) return;
    void this.run(this.take());
    this.schedule();
  }

  private take(): Waiting<T>[] {
    let count = 0;
    let weight = 0;
    for (const waiting of this.waiting) {
      if (count > 0 && weight + waiting.weight > this.options.enough) break;
      weight += waiting.weight;
      count += 1;
    }
    this.weight -= weight;
    return this.waiting.splice(0, count);
  }

  private async run(taken: readonly Waiting<T>[]): Promise<void> {
    this.running += 1;
    try {
      await this.options.run(taken.map(({ piece }) => piece));
      for (const { done } of taken) done.resolve();
    } catch (error) {
      for (const { done } of taken) done.reject(error);
    } finally {
      this.running -= 1;
      this.schedule();
    }
  }
}
