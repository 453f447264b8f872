import {
  compareValues,
  contains,
  inOrder,
  parseInstant,
  valueAt as valueAtPath,
  type OrderComparison,
  type PathRules,
} from '@customer-platform/http';
import type { Test } from './rule.js';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const PATHS: PathRules = { dottedKeys: true, intoLists: false };

/**
 * What stands at a dotted path. A key that has dots itself wins over the path that its parts would make. Null is
 * absent, as in a merge patch.
 */
export function valueAt(holder: unknown, path: string): unknown {
  return valueAtPath(holder, path, PATHS);
}

/**
 * Whether a value passes a test at an instant. An absent value passes none but `exists: false`, `ne` included
 * (core.md §7), and a value of another type than the test's passes none but `ne`. Whoever tests much of the same values
 * gives a `search` that remembers them.
 */
export function passes(actual: unknown, test: Test, now: number, search = contains): boolean {
  switch (test.op) {
    case 'in':
      return compareValues(actual, 'in', test.values, 'always');
    case 'contains':
      return search(actual, test.value);
    case 'within_last': {
      const at = instantOf(actual);
      return at !== undefined && now - test.ms < at && at <= now;
    }
    case 'eq':
    case 'ne':
    case 'prefix':
    case 'exists':
      return compareValues(actual, test.op, test.value, 'always');
    default:
      return compares(actual, test.op, test.value);
  }
}

/** The next instant at which a test of an unchanged value may turn out otherwise; infinite if never. */
export function nextTurn(actual: unknown, test: Test, now: number): number {
  if (test.op !== 'within_last') return Infinity;
  const at = instantOf(actual);
  if (at === undefined || at + test.ms <= now) return Infinity;
  return at > now ? at : at + test.ms;
}

/** A text that names an instant, or a day, which begins at midnight UTC; in milliseconds. */
function instantOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const instant = parseInstant(DATE.test(value) ? `${value}T00:00:00Z` : value);
  return instant === undefined ? undefined : Date.parse(instant);
}

/** Times are compared as times, whatever offset each is written in; what is no time is neither before nor after. */
function compares(actual: unknown, op: OrderComparison, wanted: string | number): boolean {
  const bound = instantOf(wanted);
  return bound === undefined ? inOrder(actual, op, wanted) : inOrder(instantOf(actual), op, bound);
}
