import { FairQueue } from './fair-queue.js';
import { Pace } from './pace.js';

describe('FairQueue', () => {
  const items = (lane: string, count: number) => Array.from({ length: count }, (_, n) => ({ lane, n }));
  const take = (queue: FairQueue<{ lane: string; n: number }>, count: number): string =>
    Array.from({ length: count }, () => queue.take(() => true)?.lane).join('');

  it('lets a newcomer go next but one, however many wait in another lane', () => {
    const queue = new FairQueue<{ lane: string; n: number }>();
    for (const item of items('a', 1_000)) queue.add(item);
    for (const item of items('b', 2)) queue.add(item);
    expect(take(queue, 6)).toBe('ababaa');
  });

  it('keeps the order within a lane, passes over who must wait, and gives back what was taken', () => {
    const queue = new FairQueue<{ lane: string; n: number }>();
    for (const item of [...items('a', 2), ...items('b', 2)]) queue.add(item);
    const first = queue.take((lane) => lane !== 'a');
    expect(first).toEqual({ lane: 'b', n: 0 });
    if (first) queue.putBack(first);
    expect([queue.take(() => true), queue.take((lane) => lane === 'b')]).toEqual([
      { lane: 'b', n: 0 },
      { lane: 'b', n: 1 },
    ]);
    expect([queue.take(() => true), queue.take(() => true), queue.take(() => true)]).toEqual([
      { lane: 'a', n: 0 },
      { lane: 'a', n: 1 },
      undefined,
    ]);
    expect(queue.isEmpty).toBe(true);
  });
});

describe('Pace', () => {
  it('gives one ahead until a lane turns out to be quick, and one again after it was slow', () => {
    const pace = new Pace();
    expect(pace.of('a')).toBe(1);
    for (let n = 0; n < 10; n += 1) pace.note('a', 1);
    expect(pace.of('a')).toBe(4);
    pace.note('a', 500);
    pace.note('b', Infinity);
    expect([pace.of('a'), pace.of('b')]).toEqual([1, 1]);
  });
});
