import { stat } from 'node:fs';
import { byDeadline, DeadlinePassed } from './by-deadline.js';

const clock = { now: () => performance.now() };

/** Holds the loop for so long that the deadline is over and the work's result has come when it goes on. */
async function lateToLook(unread?: 'dropped' | 'taken'): Promise<string> {
  const answer = byDeadline(
    clock,
    clock.now() + 5,
    () => new Promise<string>((resolve) => stat('.', () => resolve('there'))),
    unread,
  );
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  return answer;
}

describe('what has come while this process was late to look', () => {
  it('is dropped where the deadline holds by the clock', async () => {
    await expect(lateToLook()).rejects.toBeInstanceOf(DeadlinePassed);
  });

  it('is taken where only waiting is bounded', async () => {
    expect(await lateToLook('taken')).toBe('there');
  });
});
