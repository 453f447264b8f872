import { CLASSES, type RouteClass } from './route-classes.js';

/** A sample of so many tells a median well enough. */
const MOST_OF_A_CLASS = 256;
/** A module may take so many times as long as it does in quiet, whatever is tolerable. */
const OVER_QUIET = 1.5;
/** Parts of what is known of the quiet that an answer replaces: a quick one more, for what slows others down passes. */
const NEWS = { quick: 0.1, slow: 0.01 };
/** More than what a module takes however few ask is no sign of a crowd. */
const OVER_LEAST = 1.1;

/** Measures how long a module took to begin its answers, by class of routes, and knows how long it may. */
export class AnswerTimes {
  private readonly measured = new Map<RouteClass, number[]>();
  private readonly quiet = new Map<RouteClass, number>();
  private readonly borne = new Map<RouteClass, number>();
  private answers = 0;

  /** Answers since it was cleared. */
  get count(): number {
    return this.answers;
  }

  /** @param isQuiet whether few others were asked when it was */
  add(route: RouteClass, ms: number, isQuiet: boolean): void {
    this.answers += 1;
    if (isQuiet) this.learn(route, ms);
    const times = this.measured.get(route);
    if (times === undefined) this.measured.set(route, [ms]);
    else if (times.length < MOST_OF_A_CLASS) times.push(ms);
  }

  clear(): void {
    this.answers = 0;
    this.measured.clear();
  }

  /** Returns the tolerable time over the median, of the class where that is least; infinite where no class has `fewest` answers. */
  gradient(fewest: number): number {
    let least = Infinity;
    for (const [route, median] of this.medians(fewest)) {
      const tolerable = this.tolerable(route);
      if (tolerable !== undefined) least = Math.min(least, tolerable / median);
    }
    return least;
  }

  /** Takes what was measured for what the module takes however few ask. */
  bear(fewest: number): void {
    for (const [route, median] of this.medians(fewest)) {
      if (median > (this.tolerable(route) ?? Infinity)) this.borne.set(route, median * OVER_LEAST);
    }
  }

  private learn(route: RouteClass, ms: number): void {
    const known = this.quiet.get(route) ?? ms;
    this.quiet.set(route, known + (ms < known ? NEWS.quick : NEWS.slow) * (ms - known));
    this.borne.delete(route);
  }

  private tolerable(route: RouteClass): number | undefined {
    const { tolerableMs } = CLASSES[route];
    if (tolerableMs === undefined) return undefined;
    return Math.max(tolerableMs, OVER_QUIET * (this.quiet.get(route) ?? 0), this.borne.get(route) ?? 0);
  }

  private *medians(fewest: number): Generator<[RouteClass, number]> {
    for (const [route, times] of this.measured) {
      if (times.length < fewest) continue;
      const sorted = times.toSorted((one, other) => one - other);
      yield [route, Math.max(0.001, sorted[Math.floor(sorted.length / 2)] ?? 0)];
    }
  }
}
