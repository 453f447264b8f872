import { parseInstant } from '@customer-platform/http';
import { contains } from './contents.js';
import type { Scalar, Test } from './rule.js';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * What stands at a dotted path. A key that has dots itself wins over the path that its parts would make. Null is
 * absent, as in a merge patch.
 */
export function valueAt(holder: unknown, path: string): unknown {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return undefined;
  const record = holder as Record<string, unknown>;
  if (Object.hasOwn(record, path)) return record[path] ?? undefined;
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    if (Object.hasOwn(record, head)) return valueAt(record[head], path.slice(dot + 1));
  }
  return undefined;
}

/**
 * Whether a value passes a test at an instant. An absent value passes none but `exists: false`, `ne` included
 * (core.md §7), and a value of another type than the test's passes none but `ne`. Whoever tests much of the same values
 * gives a `search` that remembers them.
 */
export function passes(actual: unknown, test: Test, now: number, search = contains): boolean {
  if (test.op === 'exists') return (actual !== undefined && actual !== null) === test.value;
  if (actual === undefined || actual === null) return false;
  switch (test.op) {
    case 'eq':
      return actual === test.value;
    case 'ne':
      return actual !== test.value;
    case 'in':
      return test.values.includes(actual as Scalar);
    case 'contains':
      return search(actual, test.value);
    case 'prefix':
      return typeof actual === 'string' && actual.startsWith(test.value);
    case 'within_last': {
      const at = instantOf(actual);
      return at !== undefined && now - test.ms < at && at <= now;
    }
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
export function instantOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const instant = parseInstant(DATE.test(value) ? `${value}T00:00:00Z` : value);
  return instant === undefined ? undefined : Date.parse(instant);
}

function compares(actual: unknown, op: 'gt' | 'gte' | 'lt' | 'lte', wanted: string | number): boolean {
  if (typeof actual === 'number' && typeof wanted === 'number') return ordered(actual, op, wanted);
  if (typeof actual !== 'string' || typeof wanted !== 'string') return false;
  const bound = instantOf(wanted);
  if (bound === undefined) return ordered(actual, op, wanted);
  // Times are compared as times, whatever offset each is written in; what is no time is neither before nor after.
  const at = instantOf(actual);
  return at !== undefined && ordered(at, op, bound);
}

function ordered<T extends number | string>(actual: T, op: 'gt' | 'gte' | 'lt' | 'lte', wanted: T): boolean {
  if (op === 'gt') return actual > wanted;
  if (op === 'gte') return actual >= wanted;
  return op === 'lt' ? actual < wanted : actual <= wanted;
}
