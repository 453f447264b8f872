import { currentCause } from '@customer-platform/http';
import type { OpenTransaction } from './transaction.js';

/**
 * The units of work of one call that is answered once. The first that writes is left open, and those that begin later
 * are units inside it; so all that the call writes commits with its answer.
 */
export class CallUnits {
  private readonly cause = currentCause();
  private turn: Promise<unknown> = Promise.resolve();
  private over = false;

  constructor(private held?: OpenTransaction) {}

  /** The transaction that is left open, if any is. */
  get open(): OpenTransaction | undefined {
    return this.held;
  }

  /** Whether what runs now is of this call: not a job that it has woken, nor what outlasts it. */
  get isCurrent(): boolean {
    return !this.over && currentCause() === this.cause;
  }

  /** Leaves the transaction open, unless one of a unit beside it is. */
  hold(tx: OpenTransaction): boolean {
    if (this.over || this.held) return false;
    this.held = tx;
    return true;
  }

  /** Savepoints nest, they do not run side by side: units begun in parallel take turns. */
  inTurn<T>(unit: () => Promise<T>): Promise<T> {
    const turn = this.turn.then(unit, unit);
    this.turn = turn;
    return turn;
  }

  /** No unit joins the call any more, and none is under way. */
  async end(): Promise<void> {
    this.over = true;
    await Promise.allSettled([this.turn]);
  }
}
