import { sameJson } from '@customer-platform/database';
import { isDay, isLongerThan, parseInstant } from '@customer-platform/http';
import type { FieldCode } from '@customer-platform/problem-json';

/** The types that an attribute can be declared with (core.md §8). */
export const DECLARED_TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'string_list',
] as const;

/** One of {@link DECLARED_TYPES}. */
export type DeclaredType = (typeof DECLARED_TYPES)[number];

/** What to do with values that the declaration does not take and that cannot be converted. */
export const ON_FAILURE = ['refuse', 'clear'] as const;

/** One of {@link ON_FAILURE}. */
export type OnFailure = (typeof ON_FAILURE)[number];

/** What values an attribute takes; what does not belong to its type is null. */
export interface Declaration {
  readonly type: DeclaredType;
  /** The only values there are; of a list the only items. */
  readonly enum: readonly (string | number)[] | null;
  /** Characters of a text, of a list of each item. */
  readonly max_length: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

/** A value as it is stored, or why it cannot be. */
export type Checked = { readonly value: unknown } | { readonly code: FieldCode; readonly detail: string };

/** Beyond ±(2^53 − 1) not every integer is a number; what is none no body may hold. */
export const MOST_EXACT = Number.MAX_SAFE_INTEGER;

/** Allowed values to look up: a list of thousands of items may be held against two hundred of them. */
const SETS = new WeakMap<readonly (string | number)[], ReadonlySet<string | number>>();

/** As long as a day or an instant can be. */
const LONGEST_TIME = 64;

/**
 * Whether a declared attribute takes a value. Nothing is converted; an instant is kept in UTC with milliseconds, as all
 * times are.
 */
export function checkDeclared(declaration: Declaration, value: unknown): Checked {
  switch (declaration.type) {
    case 'string':
      return typeof value === 'string' ? checkText(declaration, value) : mismatch('a text');
    case 'integer':
    case 'number':
      return checkNumber(declaration, value);
    case 'boolean':
      return typeof value === 'boolean' ? { value } : mismatch('true or false');
    case 'date':
      return typeof value === 'string' && isDay(value) ? { value } : mismatch('a day, such as 2026-01-31');
    case 'datetime': {
      const instant = typeof value === 'string' ? instantOf(value) : undefined;
      return instant === undefined
        ? mismatch('an ISO 8601 time with its offset, such as 2026-01-31T12:00:00Z')
        : { value: instant };
    }
    case 'string_list':
      return checkList(declaration, value);
  }
}

/**
 * A value of any type as one of the declared type, where nothing of it is lost thereby: `"42"` as 42 (`"1.10"` is no 1.1), a day as its
 * midnight UTC and back, a text as a list of one. A value that the declaration takes stays as it is.
 */
export function convertDeclared(declaration: Declaration, value: unknown): Checked {
  const asItIs = checkDeclared(declaration, value);
  if ('value' in asItIs) return asItIs;
  const other = converted(declaration.type, value);
  return other === undefined ? asItIs : checkDeclared(declaration, other);
}

/** What of a declaration another says otherwise, as bodies name it. */
export function changedOf(before: Declaration, after: Declaration): (keyof Declaration)[] {
  const names = ['type', 'enum', 'max_length', 'min', 'max'] as const;
  return names.filter((name) => !sameJson(before[name], after[name]));
}

/** Whether every value that `before` takes `after` takes too, as it is. */
export function takesAllOf(after: Declaration, before: Declaration): boolean {
  if (after.type !== before.type) return false;
  const known = after.enum;
  const enumerated =
    known === null || (before.enum !== null && before.enum.every((value) => isAmong(known, value)));
  return (
    enumerated &&
    (after.max_length ?? Infinity) >= (before.max_length ?? Infinity) &&
    (after.min ?? -Infinity) <= (before.min ?? -Infinity) &&
    (after.max ?? Infinity) >= (before.max ?? Infinity)
  );
}

function converted(type: DeclaredType, value: unknown): unknown {
  switch (type) {
    case 'string':
      return Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : textOf(value);
    case 'integer':
    case 'number':
      return typeof value === 'string' ? exactNumberOf(value) : undefined;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : undefined;
    case 'date': {
      const instant = typeof value === 'string' ? instantOf(value) : undefined;
      return instant?.endsWith('T00:00:00.000Z') ? instant.slice(0, 10) : undefined;
    }
    case 'datetime':
      return typeof value === 'string' && isDay(value) ? `${value}T00:00:00.000Z` : undefined;
    case 'string_list': {
      const text = typeof value === 'string' ? value : textOf(value);
      return text === undefined ? undefined : [text];
    }
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Math.abs(value) <= MOST_EXACT ? String(value) : undefined;
}

/** What a double holds with all its digits. Zeros at either end and the sign of zero are part of a text, and would be lost. */
function exactNumberOf(text: string): number | undefined {
  if (text.length > 20 || text === '-0' || !/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(text)) return undefined;
  const value = Number(text);
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '');
  if (text.includes('.') ? digits.length > 15 : Math.abs(value) > MOST_EXACT) return undefined;
  return value;
}

function checkText({ enum: known, max_length: longest }: Declaration, value: string): Checked {
  if (known !== null && !isAmong(known, value)) return notAmong(known);
  if (longest === null || !isLongerThan(value, longest)) return { value };
  return { code: 'too_long', detail: `It may have at most ${String(longest)} characters.` };
}

function checkNumber({ type, enum: known, min, max }: Declaration, value: unknown): Checked {
  if (typeof value !== 'number') return mismatch(type === 'integer' ? 'an integer' : 'a number');
  if (type === 'integer' && !Number.isInteger(value)) return mismatch('an integer');
  const outside = rangeFault(value, min, max);
  if (outside !== undefined) return { code: 'out_of_range', detail: outside };
  return known === null || isAmong(known, value) ? { value } : notAmong(known);
}

function rangeFault(value: number, min: number | null, max: number | null): string | undefined {
  if (min !== null && value < min) return `It must be at least ${String(min)}.`;
  return max !== null && value > max ? `It must be at most ${String(max)}.` : undefined;
}

function checkList(declaration: Declaration, value: unknown): Checked {
  if (!Array.isArray(value)) return mismatch('a list of texts');
  for (const item of value as unknown[]) {
    if (typeof item !== 'string') return mismatch('a list of texts');
    const checked = checkText(declaration, item);
    if ('code' in checked) return checked;
  }
  return { value };
}

function mismatch(what: string): Checked {
  return { code: 'attribute_type_mismatch', detail: `It must be ${what}, as its definition declares.` };
}

function isAmong(known: readonly (string | number)[], value: string | number): boolean {
  const set = SETS.get(known) ?? new Set(known);
  SETS.set(known, set);
  return set.has(value);
}

function notAmong(known: readonly (string | number)[]): Checked {
  const shown = known.slice(0, 20).map(String).join(', ');
  const more = known.length > 20 ? ', …' : '';
  return { code: 'invalid_enum', detail: `It must be one of ${shown}${more}.` };
}

function instantOf(text: string): string | undefined {
  return text.length > LONGEST_TIME ? undefined : parseInstant(text);
}
