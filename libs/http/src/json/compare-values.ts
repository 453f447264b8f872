import { containsText } from './contains-text.js';

/** How a value of JSON is compared with what a condition names. */
export type Comparison = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'contains' | 'prefix' | 'exists';

/** The comparisons of what has an order. */
export type OrderComparison = 'gt' | 'gte' | 'lt' | 'lte';

/**
 * Of a value of another type than the condition's: whether `ne` holds of it. An absent value differs from nothing,
 * whatever this says.
 * - `never`: only what is of the same type can differ.
 * - `unless_nested`: any text, number or boolean does; a list or an object does not.
 * - `always`.
 */
export type OtherTypeDiffers = 'never' | 'unless_nested' | 'always';

/** Which paths lead somewhere. */
export interface PathRules {
  /** A key that holds dots itself wins over the path that its parts would make. */
  readonly dottedKeys: boolean;
  /** A number leads to the element of a list. */
  readonly intoLists: boolean;
}

/** The value at a dotted path, through own members only; undefined where it leads nowhere, or to null. */
export function valueAt(holder: unknown, path: string, rules: PathRules): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  if (Array.isArray(holder) && !rules.intoLists) return undefined;
  const record = holder as Record<string, unknown>;
  let dot = path.indexOf('.');
  if ((dot < 0 || rules.dottedKeys) && Object.hasOwn(record, path)) return record[path] ?? undefined;
  for (; dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    if (Object.hasOwn(record, head)) return valueAt(record[head], path.slice(dot + 1), rules);
    if (!rules.dottedKeys) return undefined;
  }
  return undefined;
}

/**
 * Whether a value compares so with what a condition names. An absent one, undefined or null, does in no way but
 * `exists: false`. Texts are ordered by code unit, which orders ISO 8601 times of one form.
 */
export function compareValues(
  found: unknown,
  comparison: Comparison,
  wanted: unknown,
  otherTypeDiffers: OtherTypeDiffers,
): boolean {
  const absent = found === undefined || found === null;
  if (comparison === 'exists') return absent !== wanted;
  if (absent) return false;
  switch (comparison) {
    case 'eq':
      return found === wanted;
    case 'ne':
      return found !== wanted && (typeof found === typeof wanted || differs(found, otherTypeDiffers));
    case 'in':
      return Array.isArray(wanted) && wanted.includes(found);
    case 'contains':
      return contains(found, wanted);
    case 'prefix':
      return typeof found === 'string' && typeof wanted === 'string' && found.startsWith(wanted);
    default:
      return inOrder(found, comparison, wanted);
  }
}

/** A text contains a text; a list contains an element. */
export function contains(found: unknown, wanted: unknown): boolean {
  if (typeof found === 'string') return typeof wanted === 'string' && containsText(found, wanted);
  return Array.isArray(found) && found.includes(wanted);
}

/** Whether two numbers, or two texts, are in this order; of anything else none is. */
export function inOrder(found: unknown, comparison: OrderComparison, wanted: unknown): boolean {
  if (typeof found === 'number' && typeof wanted === 'number') return ordered(found, comparison, wanted);
  if (typeof found === 'string' && typeof wanted === 'string') return ordered(found, comparison, wanted);
  return false;
}

function differs(found: unknown, otherTypeDiffers: OtherTypeDiffers): boolean {
  return otherTypeDiffers === 'always' || (otherTypeDiffers === 'unless_nested' && typeof found !== 'object');
}

function ordered<T extends number | string>(found: T, comparison: OrderComparison, wanted: T): boolean {
  if (comparison === 'gt') return found > wanted;
  if (comparison === 'gte') return found >= wanted;
  return comparison === 'lt' ? found < wanted : found <= wanted;
}
