import type { IncomingMessage } from 'node:http';
import { REFUSES_FOR } from '@customer-platform/config';

const LONGEST_MS = 1_000;
/** A module refuses few at a time: those above their share. */
const MOST = 1_000;

/** Credentials that a module has just refused as overloaded: what it would only say again is said here, for less. */
export class RefusalCache {
  private readonly until = new Map<string, number>();

  constructor(private readonly now: () => number) {}

  /** Takes note of an answer of 503. */
  hear({ headers: { authorization } }: IncomingMessage, raw: readonly (Buffer | string)[]): void {
    const at = raw.findIndex((name, n) => n % 2 === 0 && String(name).toLowerCase() === REFUSES_FOR);
    const ms = Math.min(LONGEST_MS, Number(String(raw[at + 1])));
    if (at === -1 || authorization === undefined || !(ms > 0)) return;
    if (this.until.size >= MOST) this.until.clear();
    this.until.set(authorization, this.now() + ms);
  }

  covers({ headers: { authorization } }: IncomingMessage): boolean {
    if (this.until.size === 0 || authorization === undefined) return false;
    const until = this.until.get(authorization);
    if (until === undefined) return false;
    if (this.now() < until) return true;
    this.until.delete(authorization);
    return false;
  }
}
