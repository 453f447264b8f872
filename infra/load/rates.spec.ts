import { kneeOf, ratesOf } from './rates.ts';

describe('--rate', () => {
  it.each([
    ['500', [500]],
    ['500,1000', [500, 1000]],
    ['1000..2000:500', [1000, 1500, 2000]],
    ['100,1000..1900:500', [100, 1000, 1500]],
  ])('%s', (text, rates) => {
    expect(ratesOf(text)).toEqual(rates);
  });

  it.each(['', 'many', '-5', '0', '1.5', '1000..2000', '1000..2000:0', '2000..1000:100', '1000000'])(
    'refuses "%s" in a sentence',
    (text) => {
      expect(() => ratesOf(text)).toThrow('--rate takes requests a second');
    },
  );
});

describe('the knee', () => {
  const attempt = { rate: 1000, p95: 20, dropped: 0, failed: 0 };

  it('is the highest rate that was held', () => {
    expect(kneeOf([attempt, { ...attempt, rate: 2000 }, { ...attempt, rate: 3000, p95: 150 }], 100)).toBe(
      2000,
    );
  });

  it('is not a rate with a drop, a failure or a slow p95', () => {
    for (const bad of [{ dropped: 1 }, { failed: 1 }, { p95: 100 }])
      expect(kneeOf([{ ...attempt, ...bad }], 100)).toBeUndefined();
  });
});
