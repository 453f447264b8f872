import { expect, it } from '@jest/globals';
import { median, ratiosOf, sidesOf, summaryLines, type Round } from './rounds.ts';

const round = (side: Round['side'], milliseconds: number, cpu = 0): Round => ({
  side,
  figures: { milliseconds: [milliseconds], refused: 0 },
  cpu: new Map([['core api', cpu]]),
});

it('lets either side begin as often', () => {
  expect(sidesOf(2)).toEqual(['without', 'with', 'with', 'without']);
});

it('takes the one in the middle, or the mean of two', () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, NaN]);
});

it('compares each round with that of its pair', () => {
  const rounds = [round('without', 10), round('with', 12), round('with', 30), round('without', 20)];
  expect(ratiosOf(rounds, ({ figures }) => figures.milliseconds[0] ?? NaN)).toEqual([1.2, 1.5]);
});

it('says what an event cost each process', () => {
  const lines = summaryLines([round('without', 10, 0.001), round('with', 12, 0.0015)]);
  expect(lines.join('\n')).toMatch(/p95 1\.200.*core api +1000 µs without +1500 µs with/s);
});
