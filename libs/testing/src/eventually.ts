import { setTimeout as pause } from 'node:timers/promises';

/** How long to wait, and how often to look. */
export interface Patience {
  /** Milliseconds until the last failure is thrown; 10 s unless given. */
  within?: number;
  /** Milliseconds between two tries. */
  every?: number;
}

/** Tries an assertion until it holds; returns its value. Throws its last failure when time is up. */
export async function eventually<T>(assertion: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  const { within = 10_000, every = 25 } = patience;
  const giveUpAt = performance.now() + within;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() >= giveUpAt) throw error;
    }
    await pause(every);
  }
}
