import { AnswerTimes } from './answer-times.js';

/** Milliseconds between two looks at a limit, where there are answers enough to tell. */
const WINDOW_MS = 100;
const LONGEST_WINDOW_MS = 1_000;
const FEWEST_ANSWERS = 5;
/** Times that a window counts at most, from this crowd on: one of 64 waits, but never long. */
const HEAVIEST = 4;
const HEAVIEST_FROM = 128;
/** What was away or has just begun compiles what it runs: nothing is refused for so long. */
const QUIET_MS = 5_000;
/** Milliseconds without a need for it after which there is no limit. */
const CALM_MS = 2_000;
/** A limit is reached, and worth raising, from this part of it on. */
const REACHED = 0.8;
const RAISE = 1.1;
const STEEPEST = 0.5;
/** Windows at the least limit for which answers may be slow; then they are by their nature, not by the crowd. */
const WINDOWS_AT_LEAST = 10;

/** Rules in which one limit differs from another. */
export interface ConcurrencyRules<Kind> {
  /** No limit is lower: so few at once are no crowd, however slow. */
  readonly least: number;
  /** Windows that are borne before there is a limit, each weighed by the third power of its crowd. */
  readonly patience: number;
  /** Milliseconds that an answer of this kind may take; one without them tells nothing. */
  readonly tolerableMs: (kind: Kind) => number | undefined;
  /** A turn of the event loop may take so long, in milliseconds. */
  readonly tolerableTurnMs: number;
  /**
   * What takes long however few are at work is slow by its nature: that is the quiet from then on, and a few at work say
   * nothing of a crowd. Without it, the first answer in quiet ends what was borne.
   */
  readonly slowByNature?: boolean;
  /** Counts those at work whose number makes others slow. */
  readonly crowd: () => number;
  /** Runs as soon as there is a limit. */
  readonly begun?: () => void;
  /** Runs after each window, which lasted so many milliseconds. */
  readonly looked?: (lastedMs: number) => void;
}

/**
 * Limits how many are at work at once, by how long their answers take: where more of them only make all of them slow. The
 * limit is a gradient: each window it is multiplied by what is tolerable over what was measured (as Envoy's adaptive
 * concurrency and Netflix's concurrency-limits do). There is none until answers have been slow under a crowd that does not
 * shrink, and none any more once nobody has come up to it for a while.
 */
export class ConcurrencyLimit<Kind> {
  private most: number | undefined;
  private readonly times: AnswerTimes<Kind>;
  private quietUntil: number | undefined;
  private strain = 0;
  private calmMs = 0;
  private windowsAtLeast = 0;
  private window = { began: 0, crowd: 0, peak: 0, refused: 0, turnMs: 0, watches: false };

  constructor(
    private readonly rules: ConcurrencyRules<Kind>,
    private readonly now: () => number,
    /** Runs this in the event loop's next turn. */
    private readonly nextTurn: (run: () => void) => void = setImmediate,
  ) {
    this.times = new AnswerTimes(rules.tolerableMs, rules.slowByNature);
  }

  /** The most that may be at work at once; undefined while there is no limit. */
  get current(): number | undefined {
    return this.most;
  }

  /** Tells whether so few are at work that an answer to who comes now tells what it takes in quiet. */
  get isQuiet(): boolean {
    return this.rules.crowd() < this.rules.least / 2;
  }

  /** One more is at work. */
  entered(): void {
    this.window.peak = Math.max(this.window.peak, this.rules.crowd());
    this.watchTurns();
  }

  /** One was answered. */
  answered(kind: Kind, ms: number, isQuiet: boolean): void {
    this.times.add(kind, ms, isQuiet);
    this.look();
  }

  /** One was not let in. */
  refused(): void {
    this.window.refused += 1;
  }

  /** Whoever answers was not there: when it comes back it is new. */
  away(): void {
    this.quietUntil = this.now() + QUIET_MS;
    this.end();
  }

  /** Ends a window that has lasted long enough. */
  look(): void {
    const now = this.now();
    this.quietUntil ??= now + QUIET_MS;
    const lasted = now - this.window.began;
    if (lasted < WINDOW_MS || (this.times.count < FEWEST_ANSWERS && lasted < LONGEST_WINDOW_MS)) return;
    const areFew = this.rules.slowByNature === true && this.window.peak <= this.rules.least;
    const gradient = areFew ? RAISE : this.gradient();
    // Nobody came for so long.
    if (lasted >= CALM_MS) this.end();
    else if (this.most === undefined) this.watch(gradient, Math.min(lasted, LONGEST_WINDOW_MS) / WINDOW_MS);
    else this.adapt(this.most, gradient, lasted);
    this.times.clear();
    const crowd = this.rules.crowd();
    this.window = { began: now, crowd, peak: crowd, refused: 0, turnMs: 0, watches: false };
    this.rules.looked?.(lasted);
  }

  /** A turn is measured once in a window, and only in a crowd. */
  private watchTurns(): void {
    const { window } = this;
    if (window.watches || this.rules.crowd() <= this.rules.least) return;
    window.watches = true;
    const asked = this.now();
    this.nextTurn(() => (this.window.turnMs = Math.max(this.window.turnMs, this.now() - asked)));
  }

  /** Returns the tolerable time over the measured one: below 1 where answers, or this process, are too slow. */
  private gradient(): number {
    const { turnMs } = this.window;
    const ofTurns = turnMs > 0 ? this.rules.tolerableTurnMs / turnMs : Infinity;
    return Math.min(this.times.gradient(FEWEST_ANSWERS), ofTurns);
  }

  private watch(gradient: number, windows: number): void {
    const { peak, crowd } = this.window;
    const isWarm = this.now() >= (this.quietUntil ?? 0);
    if (peak <= this.rules.least || gradient >= 1 || !isWarm) return void (this.strain = 0);
    const weight = HEAVIEST * Math.min(1, peak / HEAVIEST_FROM) ** 3;
    // Many that came at once are borne: they become fewer. So are those that a pause held up, which is over.
    if (this.rules.crowd() >= crowd) this.strain += weight * (this.strain === 0 ? 1 : windows);
    if (this.strain < this.rules.patience) return;
    this.set(peak * gradient);
    this.rules.begun?.();
  }

  private adapt(most: number, gradient: number, lasted: number): void {
    const { peak, refused } = this.window;
    const isReached = refused > 0 || peak >= most * REACHED;
    this.calmMs = isReached ? 0 : this.calmMs + lasted;
    if (this.calmMs >= CALM_MS) return this.end();
    if (gradient < 1) this.set(most * Math.max(STEEPEST, gradient));
    else if (isReached) this.set(most * Math.min(RAISE, gradient));
    this.windowsAtLeast = gradient < 1 && most === this.rules.least ? this.windowsAtLeast + 1 : 0;
    if (this.windowsAtLeast < WINDOWS_AT_LEAST) return;
    this.windowsAtLeast = 0;
    this.times.bear(FEWEST_ANSWERS);
  }

  private set(most: number): void {
    this.most = Math.max(this.rules.least, most);
  }

  private end(): void {
    this.most = undefined;
    this.strain = this.calmMs = this.windowsAtLeast = 0;
  }
}
