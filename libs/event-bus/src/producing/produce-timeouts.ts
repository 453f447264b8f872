/** What is answered within: a waiter is told `QueueUnavailable` at the latest this long after it came. */
export const PATIENCE_MS = 850;
/**
 * How long a request may take before its connection is given up. Longer than the patience of those who wait: a broker
 * that is merely slow is not helped by new connections.
 */
export const REQUEST_MS = 5_000;
/** Pause between two attempts at what is away. */
export const RETRY_MS = 100;
