import { spanOf } from './span.ts';

describe('a time between two instants', () => {
  it.each([
    [-5, 0, 'millisecond'],
    [999.4, 999, 'millisecond'],
    [1_240, 1.2, 'second'],
    [42_700, 43, 'second'],
    [90_000, 1.5, 'minute'],
    [7_200_000, 2, 'hour'],
    [86_400_000 * 30, 30, 'day'],
  ])('of %d ms is %d, in %ss', (ms, value, unit) => {
    expect(spanOf(ms)).toEqual({ value, unit });
  });
});
