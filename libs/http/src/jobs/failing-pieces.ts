/** Bounds how long failures may take in one pass of a job, whosever they are. What comes through costs nothing of it. */
export class FailureAllowance {
  private spentMs = 0;

  /** @param now milliseconds of a monotonic clock; default `performance.now` */
  constructor(
    private readonly mostMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get isSpent(): boolean {
    return this.spentMs >= this.mostMs;
  }

  /** Does a piece, and counts how long it took where it failed. @throws what the piece throws */
  async note<T>(piece: () => Promise<T>): Promise<T> {
    const began = this.now();
    try {
      return await piece();
    } catch (error) {
      this.spentMs += this.now() - began;
      throw error;
    }
  }
}

/** One pass over an organization's rows. */
interface PiecesPass<Row> {
  /** Finds rows that wait, but for those that are known: `most` where there are more. */
  readonly find: (known: readonly Row[]) => Promise<readonly Row[]>;
  readonly most: number;
  /** Does these rows together, or none of them. @returns how many it did */
  readonly work: (rows: readonly Row[]) => Promise<number>;
  /** Tells whether a failure says nothing of the rows: the others would meet the same. */
  readonly isAway: (error: unknown) => boolean;
  /** Hears of the last failure, however many there were. */
  readonly failed: (error: unknown) => void;
  /** Set where those that failed alone before are tried again. */
  readonly retries: boolean;
  readonly allowance: FailureAllowance;
  readonly stopping: () => boolean;
}

/** Where more rows of an organization fail, what comes beside them waits until they do not. */
const MOST_KNOWN = 5_000;

/**
 * Rows of one organization of which some fail. Where a piece of them fails its halves are tried, until those that fail stand
 * alone. What a pass has no time for the next goes on with: a thousand rows that each run into a time limit are known after
 * many passes, and between any two the others have their turn.
 */
export class FailingPieces<Row> {
  /** Not tried yet, or halves of what failed. */
  private readonly pieces: (readonly Row[])[] = [];
  /** The same of rows that have failed alone before: they come last. */
  private readonly retries: (readonly Row[])[] = [];
  private readonly alone: Row[] = [];

  /** @param rows of which some fail */
  constructor(rows: readonly Row[] = []) {
    if (rows.length > 0) this.pieces.push(rows);
  }

  /**
   * Works on all that waits until nothing does, or until the allowance is spent. Those that failed alone are tried again all
   * at once, as soon as none of them waits from the last time.
   * @returns how many rows were done, and whether nothing is left
   * @throws what says nothing of the rows; what it met waits, in halves
   */
  async pass(pass: PiecesPass<Row>): Promise<{ done: number; ended: boolean }> {
    const faults: unknown[] = [];
    let done = 0;
    let found = pass.most;
    try {
      for (let known = this.rows(); found === pass.most && known.length < MOST_KNOWN; known = this.rows()) {
        if (pass.stopping() || pass.allowance.isSpent) break;
        const rows = await pass.find(known);
        found = rows.length;
        if (found > 0) this.pieces.push(rows);
        const went = await this.work(pass, faults);
        done += went;
        // Others have the rows.
        if (went === 0 && this.rows().length === known.length) break;
      }
      if (pass.retries && this.retries.length === 0 && this.alone.length > 0)
        this.retries.push(this.alone.splice(0));
      done += await this.work(pass, faults);
      return { done, ended: found < pass.most && this.rows().length === 0 };
    } finally {
      if (faults.length > 0) pass.failed(faults[0]);
    }
  }

  /** All rows that are known: those that wait, and those that failed alone. */
  private rows(): Row[] {
    return [...this.pieces.flat(), ...this.retries.flat(), ...this.alone];
  }

  private async work(pass: PiecesPass<Row>, faults: unknown[]): Promise<number> {
    let done = 0;
    // Each row is halved off once at most.
    for (let turns = 2 * this.rows().length; turns > 0; turns -= 1) {
      if (pass.allowance.isSpent || pass.stopping()) break;
      const queue = this.pieces.length > 0 ? this.pieces : this.retries;
      const piece = queue.shift();
      if (!piece) break;
      try {
        done += await pass.allowance.note(() => pass.work(piece));
      } catch (error) {
        this.part(piece, queue);
        if (pass.isAway(error)) throw error;
        faults[0] = error;
      }
    }
    return done;
  }

  private part(piece: readonly Row[], queue: (readonly Row[])[]): void {
    const middle = piece.length >> 1;
    if (middle === 0) this.alone.push(...piece);
    else queue.unshift(piece.slice(0, middle), piece.slice(middle));
  }
}
