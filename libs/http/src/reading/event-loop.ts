import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Lets other requests run before the next step of a long one. Between the steps of a large body (read, check, digest,
 * validate), each of which is bounded, so that no body holds the loop for all of them together.
 */
export async function yieldLoop(): Promise<void> {
  await nextTurn();
}
