import { waitAtMost } from '../../background/jobs/wait-at-most.js';
import type { ClaimedSend } from './claimed-send.js';
import type { DispatchDecision } from './dispatch-decision.js';

/** A send on its way to the gate. */
export interface PreparedSend {
  readonly send: ClaimedSend;
  readonly decision: Promise<DispatchDecision>;
}

/**
 * Waits a little for all, at least for one: what takes longer has a slow template, or waits behind its like.
 * @returns those whose preparation has ended, well or not, and the others
 */
export async function firstReady(
  prepared: readonly PreparedSend[],
  patienceMs: number,
): Promise<{ ready: PreparedSend[]; late: PreparedSend[] }> {
  const ended = new Set<PreparedSend>();
  const endings = prepared.map((one) =>
    one.decision.then(
      () => ended.add(one),
      () => ended.add(one),
    ),
  );
  await waitAtMost(patienceMs, Promise.all(endings));
  if (ended.size === 0) await Promise.race(endings);
  return {
    ready: prepared.filter((one) => ended.has(one)),
    late: prepared.filter((one) => !ended.has(one)),
  };
}
