/** Questions of a lane ahead in one process, at most: whoever comes after them waits for them. */
const MOST_AHEAD = 4;
/** What takes more of the CPU makes others wait. */
const QUICK_MS = 20;
/** Of lanes that were asked longest ago nothing is known any more. */
const MOST_LANES = 2_000;

/**
 * How many questions of a lane a process is given ahead. One, until they turn out to be quick; one again after any that
 * was not. So what is slow stands before others one at a time.
 */
export class LaneAllowance {
  private readonly ahead = new Map<string, number>();

  of(lane: string): number {
    return this.ahead.get(lane) ?? 1;
  }

  /** @param cost milliseconds of CPU; infinite where the question ended its process */
  note(lane: string, cost: number): void {
    const ahead = cost <= QUICK_MS ? Math.min(MOST_AHEAD, this.of(lane) + 1) : 1;
    this.ahead.delete(lane);
    this.ahead.set(lane, ahead);
    const [oldest] = this.ahead.keys();
    if (this.ahead.size > MOST_LANES && oldest !== undefined) this.ahead.delete(oldest);
  }
}
