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
 * the signal which tells it to end. What comes later is dropped, also where only this process was late to look at it:
 * a timer that fires late does not move the deadline.
 * @throws DeadlinePassed, or what `work` threw
 */
export async function byDeadline<T>(
  clock: Monotonic,
  deadline: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const late = Promise.withResolvers<never>();
  const end = (): void => {
    const passed = new DeadlinePassed();
    ending.abort(passed);
    late.reject(passed);
  };
  const timer = setTimeout(end, Math.max(0, Math.ceil(deadline - clock.now())));
  try {
    const result = await Promise.race([work(ending.signal), late.promise]);
    if (clock.now() > deadline) throw new DeadlinePassed();
    return result;
  } finally {
    clearTimeout(timer);
  }
}
