/** So long at least others come first: the look for them takes time, too. */
const SHORTEST_REST_MS = 100;
/** Of the time that an organization's failures take, others have so much more while they wait. */
const TIMES = 2;
/** Beyond it those that failed longest ago have their turn as ever. */
const MOST_REMEMBERED = 10_000;

/**
 * Organizations whose last piece failed: others come first for twice as long as the failure took. So one with a thousand rows
 * that fail, each at its time limit, takes no more than a third of a job's time from those who wait. Where nobody else waits
 * it loses nothing.
 */
export class FailingTurns {
  private readonly until = new Map<string, number>();

  /** @param now milliseconds of a monotonic clock; default `performance.now` */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Organizations that others come before. */
  resting(): string[] {
    const now = this.now();
    for (const [id, until] of this.until) if (until <= now) this.until.delete(id);
    return [...this.until.keys()];
  }

  /** Tells whether others come before this organization. */
  rests(id: string): boolean {
    return (this.until.get(id) ?? -Infinity) > this.now();
  }

  /**
   * Does a piece, and notes what became of it.
   * @param organizationOf whose it was; undefined: nobody's
   * @param hasFailed says of a piece that came to its end whether it failed all the same; default: it did not
   */
  async note<T>(
    organizationOf: () => string | undefined,
    piece: () => Promise<T>,
    hasFailed: () => boolean = () => false,
  ): Promise<T> {
    const began = this.now();
    try {
      const done = await piece();
      const id = organizationOf();
      if (hasFailed()) this.failed(id, this.now() - began);
      else if (id !== undefined) this.until.delete(id);
      return done;
    } catch (error) {
      this.failed(organizationOf(), this.now() - began);
      throw error;
    }
  }

  private failed(id: string | undefined, tookMs: number): void {
    if (id === undefined) return;
    this.until.delete(id);
    this.until.set(id, this.now() + Math.max(SHORTEST_REST_MS, TIMES * tookMs));
    const [oldest] = this.until.keys();
    if (oldest !== undefined && this.until.size > MOST_REMEMBERED) this.until.delete(oldest);
  }
}
