/** Nothing having been found for so long, whatever looks does so less often. */
const QUIET_AFTER_MS = 30_000;
const QUIET_EVERY_MS = 2_000;

/** How a {@link Pace} slows down; both in milliseconds. */
export interface Quiet {
  /** After finding nothing for so long; default 30,000. */
  readonly afterMs?: number;
  /** Then it looks so often; default 2,000. Never more often than otherwise. */
  readonly everyMs?: number;
}

/**
 * How often something is looked for that nobody need tell of: at its own pace where there is work, and seldom once
 * nothing was found for half a minute. A look that finds nothing costs as many wake-ups, of this process and of the
 * database, as one that does, and an idle platform makes nothing but such.
 */
export class Pace {
  /** The longest rest between two looks, in milliseconds. */
  readonly longestMs: number;
  private readonly quietAfterMs: number;
  private busyAt = performance.now();

  constructor(
    private readonly everyMs: number,
    { afterMs = QUIET_AFTER_MS, everyMs: quietEveryMs = QUIET_EVERY_MS }: Quiet = {},
  ) {
    this.quietAfterMs = afterMs;
    this.longestMs = Math.max(everyMs, quietEveryMs);
  }

  /** Something was found, or is said to be there. */
  busy(): void {
    this.busyAt = performance.now();
  }

  /** How long to rest before the next look, in milliseconds. */
  get restMs(): number {
    return performance.now() - this.busyAt < this.quietAfterMs ? this.everyMs : this.longestMs;
  }
}
