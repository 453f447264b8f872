import { Injectable } from '@nestjs/common';
import { retryAfterMs, type PostAnswer } from '@customer-platform/outbound';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The pauses after the first try, the second, …; after the tenth nothing is tried any more (messaging.md §8). */
const PAUSES_MS = [
  5_000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** So that what failed together does not come back together. */
const JITTER = 0.2;

/** Failures are of one streak while the pause between two is not longer than the longest between tries. */
export const STREAK_GAP_MS = 24 * HOUR * (1 + JITTER) + HOUR;
/** A streak of this length disables its endpoint. */
export const LONGEST_STREAK_MS = 5 * 24 * HOUR;

/** Random numbers, of [0, 1); a test provides its own. */
@Injectable()
export class Randomness {
  next(): number {
    return Math.random();
  }
}

/**
 * When a delivery is tried next after its `attempts`-th try has failed; undefined after the last. What the receiver
 * asks for by `Retry-After` is waited for, never less.
 */
export function nextTry(attempts: number, answer: PostAnswer, now: Date, random: number): Date | undefined {
  const pause = PAUSES_MS[attempts - 1];
  if (pause === undefined) return undefined;
  const jittered = pause * (1 - JITTER + 2 * JITTER * random);
  const wish = 'status' in answer ? retryAfterMs(answer.retryAfter, now) : 0;
  return new Date(now.getTime() + Math.round(Math.max(jittered, wish)));
}
