import { elapsedOf } from './elapsed.ts';

describe('the time between two steps', () => {
  it.each([
    [0, { unit: 'ms', count: 0 }],
    [-3, { unit: 'ms', count: 0 }],
    [340, { unit: 'ms', count: 340 }],
    [999.6, { unit: 's', count: 1 }],
    [1_234, { unit: 's', count: 1.2 }],
    [12_340, { unit: 's', count: 12 }],
    [59_700, { unit: 'min', count: 1 }],
    [90_000, { unit: 'min', count: 1.5 }],
    [7_500_000, { unit: 'h', count: 2.1 }],
    [86_000_000, { unit: 'd', count: 1 }],
    [864_000_000, { unit: 'd', count: 10 }],
  ] as const)('of %d ms is told in the unit that fits', (ms, said) => {
    expect(elapsedOf(ms)).toEqual(said);
  });
});
