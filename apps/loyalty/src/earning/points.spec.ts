import fc from 'fast-check';
import { pointsOf } from './points.js';

describe('points of an amount', () => {
  it.each([
    ['floor', 12],
    ['half_up', 13],
    ['ceil', 13],
  ] as const)('CLP 12,990 at 1 point per 1,000, %s: %i', (rounding, points) => {
    const formula = {
      type: 'per_amount',
      amount_property: 'amount',
      currency_property: 'currency',
      currency: 'CLP',
      per: 1_000,
      points: 1,
      rounding,
    } as const;
    expect(pointsOf(formula, { amount: 12_990, currency: 'CLP' })).toBe(points);
  });

  it('is exact for every amount and rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 1_000_000, max: Number.MAX_SAFE_INTEGER }),
        fc.constantFrom('floor', 'half_up', 'ceil'),
        (amount, points, per, rounding) => {
          const formula = {
            type: 'per_amount',
            amount_property: 'a',
            currency_property: 'c',
            currency: 'CLP',
            per,
            points,
            rounding,
          } as const;
          const result = BigInt(pointsOf(formula, { a: amount, c: 'CLP' }));
          const exact = BigInt(amount) * BigInt(points);
          const scaled = result * BigInt(per);
          if (rounding === 'floor') expect(scaled <= exact && exact < scaled + BigInt(per)).toBe(true);
          if (rounding === 'ceil') expect(scaled >= exact && scaled - BigInt(per) < exact).toBe(true);
          if (rounding === 'half_up') {
            const twice = 2n * (exact - scaled);
            expect(twice < BigInt(per) && twice >= -BigInt(per)).toBe(true);
          }
        },
      ),
    );
  });
});
