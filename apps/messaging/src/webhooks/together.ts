import { DatabaseUnavailable } from '@customer-platform/database';

interface Waiting<T, R> {
  readonly piece: T;
  readonly done: PromiseWithResolvers<R>;
}

/** More at once would make the first of them wait for the last. */
const MOST_AT_ONCE = 100;

/**
 * Does together what comes while the same is being done: one transaction for all that wait, and no wait where nothing
 * else comes. A run that fails is done again piece by piece, so that nobody bears another's fault, unless it is the
 * database that is away.
 */
export class Together<T, R> {
  private waiting: Waiting<T, R>[] = [];
  private running = false;

  /** `run` gives the results of the pieces in their order, and must be repeatable where it throws. */
  constructor(private readonly run: (pieces: readonly T[]) => Promise<readonly R[]>) {}

  /** Resolves with the result of a run that has begun after this call. */
  add(piece: T): Promise<R> {
    const done = Promise.withResolvers<R>();
    this.waiting.push({ piece, done });
    if (!this.running) void this.work();
    return done.promise;
  }

  private async work(): Promise<void> {
    this.running = true;
    // Calls of the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.settle(this.waiting.splice(0, MOST_AT_ONCE));
    this.running = false;
  }

  private async settle(taken: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.run(taken.map(({ piece }) => piece));
      taken.forEach(({ done }, at) => done.resolve(results[at] as R));
    } catch (error) {
      if (taken.length === 1 || error instanceof DatabaseUnavailable)
        for (const { done } of taken) done.reject(error);
      else for (const one of taken) await this.settle([one]);
    }
  }
}
