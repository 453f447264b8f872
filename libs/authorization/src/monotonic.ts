/** A clock that never goes back, in milliseconds; a test provides its own. */
export interface Monotonic {
  now(): number;
}

/** The process's own. */
export const monotonic: Monotonic = { now: () => performance.now() };
