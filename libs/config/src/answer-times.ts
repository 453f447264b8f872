/** A sample of so many tells a median well enough. */
const MOST_OF_A_KIND = 256;
/** An answer may take so many times as long as it does in quiet, whatever is tolerable. */
const OVER_QUIET = 1.5;
/** Parts of what is known of the quiet that an answer replaces: a quick one more, for what slows others down passes. */
const NEWS = { quick: 0.1, slow: 0.01 };
/** More than what answers take however few ask is no sign of a crowd. */
const OVER_LEAST = 1.1;

/** Measures how long answers took, by kind, and knows how long they may. */
export class AnswerTimes<Kind> {
  private readonly measured = new Map<Kind, number[]>();
  private readonly quiet = new Map<Kind, number>();
  private readonly borne = new Map<Kind, number>();
  private answers = 0;

  /**
   * @param tolerableMs milliseconds that an answer of this kind may take; undefined for one that tells nothing
   * @param isBorneAsQuiet whether what is borne is what the quiet is like from then on, however quick a few answers are
   */
  constructor(
    private readonly tolerableMs: (kind: Kind) => number | undefined,
    private readonly isBorneAsQuiet = false,
  ) {}

  /** Answers since it was cleared. */
  get count(): number {
    return this.answers;
  }

  /** @param isQuiet whether few others were asked when it was */
  add(kind: Kind, ms: number, isQuiet: boolean): void {
    this.answers += 1;
    if (isQuiet) this.learn(kind, ms);
    const times = this.measured.get(kind);
    if (times === undefined) this.measured.set(kind, [ms]);
    else if (times.length < MOST_OF_A_KIND) times.push(ms);
  }

  clear(): void {
    this.answers = 0;
    this.measured.clear();
  }

  /** Returns the tolerable time over the median, of the kind where that is least; infinite where no kind has `fewest` answers. */
  gradient(fewest: number): number {
    let least = Infinity;
    for (const [kind, median] of this.medians(fewest)) {
      const tolerable = this.tolerable(kind);
      if (tolerable !== undefined) least = Math.min(least, tolerable / median);
    }
    return least;
  }

  /** Takes what was measured for what answers take however few ask. */
  bear(fewest: number): void {
    for (const [kind, median] of this.medians(fewest)) {
      if (median <= (this.tolerable(kind) ?? Infinity)) continue;
      if (this.isBorneAsQuiet) this.quiet.set(kind, Math.max(median, this.quiet.get(kind) ?? 0));
      else this.borne.set(kind, median * OVER_LEAST);
    }
  }

  private learn(kind: Kind, ms: number): void {
    const known = this.quiet.get(kind) ?? ms;
    this.quiet.set(kind, known + (ms < known ? NEWS.quick : NEWS.slow) * (ms - known));
    this.borne.delete(kind);
  }

  private tolerable(kind: Kind): number | undefined {
    const tolerableMs = this.tolerableMs(kind);
    if (tolerableMs === undefined) return undefined;
    return Math.max(tolerableMs, OVER_QUIET * (this.quiet.get(kind) ?? 0), this.borne.get(kind) ?? 0);
  }

  private *medians(fewest: number): Generator<[Kind, number]> {
    for (const [kind, times] of this.measured) {
      if (times.length < fewest) continue;
      const sorted = times.toSorted((one, other) => one - other);
      yield [kind, Math.max(0.001, sorted[Math.floor(sorted.length / 2)] ?? 0)];
    }
  }
}
