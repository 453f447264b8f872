import { percentile } from './percentile.ts';

it('is the value that so much of them do not exceed, in whatever order they come', () => {
  const values = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect([0, 0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([1, 51, 96, 100]);
  expect(percentile([7], 0.95)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
});
