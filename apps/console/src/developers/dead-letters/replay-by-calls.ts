/** What one call of replay-all took. */
interface Taken {
  matched: number;
  /** There are more than one call takes. */
  truncated: boolean;
}

/** A million letters. */
const MOST_CALLS = 100;

/**
 * One call takes so many; what it took is pending no more, and the next call takes others. Once `signal` is aborted
 * there is no further call. Answers how many were taken, and whether all of them.
 */
export async function replayByCalls(
  call: () => Promise<Taken>,
  signal: AbortSignal,
  tell: (sum: number) => void,
): Promise<{ sum: number; stopped: boolean }> {
  let sum = 0;
  for (let calls = 0; calls < MOST_CALLS; calls += 1) {
    if (signal.aborted) return { sum, stopped: true };
    // It is not cut off: what it has taken runs, and is to be counted.
    const { matched, truncated } = await call();
    tell((sum += matched));
    if (!truncated) break;
  }
  return { sum, stopped: false };
}
