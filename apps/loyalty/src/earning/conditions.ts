import { compareValues, valueAt, type PathRules } from '@customer-platform/http';
import type { Condition } from '../rules/rule.js';

const PATHS: PathRules = { dottedKeys: false, intoLists: false };

/** Whether an event's properties meet a condition; a missing property or one of another type does not, also for `ne`. */
export function meets(condition: Condition, properties: Readonly<Record<string, unknown>>): boolean {
  return compareValues(propertyAt(properties, condition.property), condition.op, condition.value, 'never');
}

/** The value at a dotted path, through own properties of objects only. */
export function propertyAt(properties: Readonly<Record<string, unknown>>, path: string): unknown {
  return valueAt(properties, path, PATHS);
}
