import type { Monotonic } from './monotonic.js';

/** What was to be done by a time was not. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  constructor() {
    super('There was no answer in time');
  }
}

/**
 * The result of `work`, if it is there by the deadline; and no longer waited for than that, whether or not `work` heeds
 * the signal which tells it to end. Where only this process was late to look, `unread` says what becomes of a result
 * that had come by then: `dropped` holds the deadline by the clock, as what decides about rights must; `taken` reads
 * what has arrived before it gives up.
 * @throws DeadlinePassed, or what `work` threw
 */
export async function byDeadline<T>(
  clock: Monotonic,
  deadline: number,
  work: (signal: AbortSignal) => Promise<T>,
  unread: 'dropped' | 'taken' = 'dropped',
): Promise<T> {
  const ending = new AbortController();
  const late = Promise.withResolvers<never>();
  const end = (): void => {
    const passed = new DeadlinePassed();
    ending.abort(passed);
    late.reject(passed);
  };
  // Sockets are read between a timer that is due and an immediate.
  const ring = unread === 'taken' ? (): unknown => setImmediate(end) : end;
  const timer = setTimeout(ring, Math.max(0, Math.ceil(deadline - clock.now())));
  try {
    const result = await Promise.race([work(ending.signal), late.promise]);
    if (unread === 'dropped' && clock.now() > deadline) throw new DeadlinePassed();
    return result;
  } finally {
    clearTimeout(timer);
  }
}
