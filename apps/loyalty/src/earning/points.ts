import type { Formula, PerAmountFormula, Rounding } from '../rules/rule.js';
import { propertyAt } from './conditions.js';

/** A formula gave more than the ledger can count exactly. */
export class PointsOutOfRange extends Error {
  constructor() {
    super('The rule gives more points than the ledger can count');
    this.name = 'PointsOutOfRange';
  }
}

/**
 * What a formula gives for an event's properties, at most `most`; 0 where an amount is missing, not a positive integer
 * or of another currency.
 * @throws PointsOutOfRange above 2^53 − 1, where `most` does not cut it
 */
export function pointsOf(
  formula: Formula,
  properties: Readonly<Record<string, unknown>>,
  most = Infinity,
): number {
  if (formula.type === 'fixed') return Math.min(formula.points, most);
  const amount = propertyAt(properties, formula.amount_property);
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount <= 0) return 0;
  if (propertyAt(properties, formula.currency_property) !== formula.currency) return 0;
  return perAmount(amount, formula, most);
}

function perAmount(amount: number, { points, per, rounding }: PerAmountFormula, most: number): number {
  const result = divide(BigInt(amount) * BigInt(points), BigInt(per), rounding);
  if (result > most) return most;
  if (result > BigInt(Number.MAX_SAFE_INTEGER)) throw new PointsOutOfRange();
  return Number(result);
}

/** Exact division of two positive integers. */
function divide(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  const quotient = dividend / divisor;
  const rest = dividend % divisor;
  if (rest === 0n || rounding === 'floor') return quotient;
  if (rounding === 'ceil') return quotient + 1n;
  return rest * 2n >= divisor ? quotient + 1n : quotient;
}
