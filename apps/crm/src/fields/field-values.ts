import { isUuid, sameJson } from '@customer-platform/database';
import { isDay, parseInstant, pointerToken } from '@customer-platform/http';
import type { FieldCode } from '@customer-platform/problem-json';
import type { Field, FieldValues } from './field.js';
import { lengthOf, type Refusals } from './refusals.js';

/** All values of one record together, as JSON. */
const MOST_BYTES = 64 * 1024;

type Checked = { readonly value: unknown } | { readonly code: FieldCode; readonly detail: string };

/**
 * The stored values with those merged in that a body gives: null clears, what is not given stays. Nothing is coerced;
 * a value that is sent again as it is stored is no change, whatever its field takes by now.
 */
export function mergeValues(
  refusals: Refusals,
  fields: readonly Field[],
  stored: FieldValues,
  given: FieldValues,
): FieldValues {
  const merged = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(given)) {
    const pointer = `/values/${pointerToken(key)}`;
    const field = fields.find((each) => each.key === key);
    if (!field) refusals.refuse(pointer, 'unknown_field', unknownDetail(key, fields));
    else if (field.archived) refusals.refuse(pointer, 'not_allowed', 'This field is archived.');
    else if (value === null) merged.delete(key);
    else if (!sameJson(value, stored[key] ?? null)) {
      const checked = check(field, value);
      if ('code' in checked) refusals.refuse(pointer, checked.code, checked.detail);
      else merged.set(key, checked.value);
    }
  }
  for (const { key } of fields.filter((field) => isDemanded(field) && !merged.has(field.key))) {
    // A value that was refused above is said once.
    if ((given[key] ?? null) === null) refusals.refuse(`/values/${key}`, 'required', 'It is required.');
  }
  const values = Object.fromEntries(merged);
  if (Buffer.byteLength(JSON.stringify(values)) > MOST_BYTES)
    refusals.refuse('/values', 'too_long', 'All values together may have at most 64 KiB.');
  return values;
}

/** The values as they are shown: every field that is not archived, null where it has none. */
export function shownValues(fields: readonly Field[], stored: FieldValues): Record<string, unknown> {
  return Object.fromEntries(
    fields.filter(({ archived }) => !archived).map(({ key }) => [key, stored[key] ?? null]),
  );
}

/** The keys of the fields that every active record must have a value of, and these values lack. */
export function lacking(fields: readonly Field[], stored: FieldValues): string[] {
  return fields
    .filter((field) => isDemanded(field) && !Object.hasOwn(stored, field.key))
    .map(({ key }) => key);
}

/** Whether an active record must have a value: what cannot be written cannot be demanded. */
export function isDemanded({ required, archived }: Field): boolean {
  return required && !archived;
}

function check(field: Field, value: unknown): Checked {
  switch (field.type) {
    case 'string':
      return checkText(value, field.max_length);
    case 'integer':
    case 'number':
      return checkNumber(value, field);
    case 'boolean':
      return typeof value === 'boolean' ? { value } : wrongType('true or false');
    case 'date':
      return typeof value !== 'string'
        ? wrongType('a text')
        : isDay(value)
          ? { value }
          : notA('a day, YYYY-MM-DD');
    case 'datetime':
      return checkInstant(value);
    case 'enum':
      if (typeof value !== 'string') return wrongType('a text');
      return field.options.some((option) => option.value === value && !option.archived)
        ? { value }
        : { code: 'invalid_enum', detail: `It must be one of ${openOptions(field.options).join(', ')}.` };
    case 'reference':
      if (typeof value !== 'string') return wrongType('a text');
      return isUuid(value) ? { value: value.toLowerCase() } : notA('a UUID');
  }
}

function checkText(value: unknown, longest: number): Checked {
  if (typeof value !== 'string') return wrongType('a text');
  if (lengthOf(value) <= longest) return { value };
  return { code: 'too_long', detail: `It may have at most ${String(longest)} characters.` };
}

function checkNumber(value: unknown, field: Extract<Field, { type: 'integer' | 'number' }>): Checked {
  const { min, max } = field;
  const isInteger = field.type === 'integer';
  if (typeof value !== 'number' || !Number.isFinite(value))
    return wrongType(isInteger ? 'an integer' : 'a number');
  if (isInteger && !Number.isInteger(value)) return wrongType('an integer');
  const [least, most] = [min ?? -Number.MAX_SAFE_INTEGER, max ?? Number.MAX_SAFE_INTEGER];
  if (value >= least && value <= most) return { value };
  return { code: 'out_of_range', detail: `It must be from ${String(least)} to ${String(most)}.` };
}

function checkInstant(value: unknown): Checked {
  if (typeof value !== 'string') return wrongType('a text');
  const instant = parseInstant(value);
  return instant === undefined ? notA('an ISO 8601 time with an offset') : { value: instant };
}

function wrongType(what: string): Checked {
  return { code: 'wrong_type', detail: `It must be ${what}.` };
}

function notA(what: string): Checked {
  return { code: 'invalid_format', detail: `It must be ${what}.` };
}

function openOptions(options: readonly { value: string; archived: boolean }[]): string[] {
  return options.filter(({ archived }) => !archived).map(({ value }) => value);
}

function unknownDetail(key: string, fields: readonly Field[]): string {
  const open = fields.filter(({ archived }) => !archived).map((field) => field.key);
  const offer = open.length === 0 ? 'There are none.' : `Allowed: ${open.join(', ')}.`;
  return `There is no field \`${key.slice(0, 100)}\` here. ${offer}`;
}
