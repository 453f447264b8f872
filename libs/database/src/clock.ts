import { Injectable } from '@nestjs/common';

/** The time of day as services see it; a test provides its own to move it. */
@Injectable()
export class Clock {
  /** The present instant, to the millisecond. */
  now(): Date {
    return new Date();
  }
}

/**
 * The instant by which a transaction decides: read once its locks are held, for what it waited for may have taken until
 * after an end that an earlier reading has not come to yet (ADR 350).
 * @param locks what takes them
 * @returns what `locks` answered, and the instant
 */
export async function afterLocks<T>(clock: Clock, locks: Promise<T>): Promise<[held: T, now: Date]> {
  const held = await locks;
  return [held, clock.now()];
}
