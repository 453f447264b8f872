import { setTimeout } from 'node:timers/promises';

/** Nobody waits for a database that hangs where something is there to show. */
const WAIT_MS = 1_000;

/** What is read; what was read before where that fails, or takes more than a moment. */
export function staleOnError<T>(reading: Promise<T>, former: T): Promise<T> {
  return Promise.race([reading.catch(() => former), setTimeout(WAIT_MS, former, { ref: false })]);
}
