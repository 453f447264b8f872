import type { Condition } from '../rules/rule.js';

/** Whether an event's properties meet a condition; a missing property or one of another type does not, also for `ne`. */
export function meets(condition: Condition, properties: Readonly<Record<string, unknown>>): boolean {
  const found = valueAt(properties, condition.property);
  const { op, value } = condition;
  if (op === 'exists') return (found !== undefined && found !== null) === value;
  if (op === 'in') return (value as unknown[]).some((one) => one === found);
  if (typeof found !== typeof value) return false;
  switch (op) {
    case 'eq':
      return found === value;
    case 'ne':
      return found !== value;
    case 'prefix':
      return (found as string).startsWith(value as string);
    default:
      return compares(op, found as string | number, value as string | number);
  }
}

function compares(op: 'gt' | 'gte' | 'lt' | 'lte', found: string | number, value: string | number): boolean {
  if (op === 'gt') return found > value;
  if (op === 'gte') return found >= value;
  if (op === 'lt') return found < value;
  return found <= value;
}

/** The value at a dotted path, through own properties of objects only. */
export function valueAt(properties: Readonly<Record<string, unknown>>, path: string): unknown {
  let at: unknown = properties;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name))
      return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
