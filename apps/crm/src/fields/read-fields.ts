import { isUuid } from '@customer-platform/database';
import {
  CONTACT,
  LONGEST_TEXT,
  MOST_OPTIONS,
  USUAL_TEXT,
  VALUE_TYPES,
  type EnumOption,
  type Field,
  type FieldType,
} from './field.js';
import type { Refusals } from './refusals.js';

const COMMON = ['key', 'label', 'type', 'required', 'archived'];
const OPTIONS: Readonly<Record<FieldType, readonly string[]>> = {
  string: ['max_length'],
  integer: ['min', 'max'],
  number: ['min', 'max'],
  boolean: [],
  date: [],
  datetime: [],
  enum: ['options'],
  reference: ['target', 'on_erasure'],
};
const LONGEST_OPTION = 200;

type Given = Readonly<Record<string, unknown>>;

/** What fields may say beyond what all can. */
export interface FieldForm {
  readonly types: readonly FieldType[];
  /** Names of further members, which `readAll` leaves to its caller. */
  readonly further: readonly string[];
}

/** A field as it was read, what was given, and where. */
export interface ReadField {
  readonly field: Field;
  readonly given: Given;
  readonly pointer: string;
}

const PLAIN: FieldForm = { types: VALUE_TYPES, further: [] };

/** Reads definitions of fields as a body gives them, with their defaults filled in; what is wrong goes to `refusals`. */
export function readFields(refusals: Refusals, value: unknown, pointer: string, most: number): Field[] {
  return readAll(refusals, value, pointer, { most, form: PLAIN }).map(({ field }) => field);
}

/** As {@link readFields}, of fields that may be or say more. */
export function readAll(
  refusals: Refusals,
  value: unknown,
  pointer: string,
  { most, form }: { readonly most: number; readonly form: FieldForm },
): ReadField[] {
  const fields = refusals
    .list(value, pointer, most)
    .flatMap((item, index) => readField(refusals, item, `${pointer}/${String(index)}`, form) ?? []);
  refusals.distinct(
    fields.map(({ field }) => field.key),
    (index) => `${pointer}/${String(index)}/key`,
  );
  return fields;
}

function readField(
  refusals: Refusals,
  value: unknown,
  pointer: string,
  { types, further }: FieldForm,
): ReadField | undefined {
  const type = types.find((each) => each === (value as { type?: unknown } | null)?.type);
  const own = type ? OPTIONS[type] : [...new Set(types.flatMap((each) => OPTIONS[each]))];
  const given = refusals.object(value, pointer, [...COMMON, ...further, ...own]);
  if (!given) return undefined;
  const key = refusals.key(given['key'], `${pointer}/key`);
  const common = {
    key,
    label: refusals.label(given['label'], `${pointer}/label`, key),
    required: refusals.flag(given['required'], `${pointer}/required`),
    archived: refusals.flag(given['archived'], `${pointer}/archived`),
  };
  if (type)
    return { field: { ...common, ...ofType(refusals, type, given, pointer) } as Field, given, pointer };
  if (given['type'] === undefined) refusals.refuse(`${pointer}/type`, 'required', 'It is required.');
  else refusals.refuse(`${pointer}/type`, 'invalid_enum', `It must be one of ${types.join(', ')}.`);
  return { field: { ...common, type: 'boolean' }, given, pointer };
}

/** What is specific to a type. */
function ofType(refusals: Refusals, type: FieldType, given: Given, pointer: string) {
  switch (type) {
    case 'string':
      return { type, max_length: readLength(refusals, given['max_length'], `${pointer}/max_length`) };
    case 'integer':
    case 'number':
      return { type, ...readBounds(refusals, type, given, pointer) };
    case 'enum':
      return { type, options: readOptions(refusals, given['options'], `${pointer}/options`) };
    case 'reference':
      return { type, ...readTarget(refusals, given, pointer) };
    case 'boolean':
    case 'date':
    case 'datetime':
      return { type };
  }
}

function readTarget(refusals: Refusals, given: Given, pointer: string) {
  const { target, on_erasure: onErasure } = given;
  if (target === undefined) refusals.refuse(`${pointer}/target`, 'required', 'A reference needs its target.');
  else if (typeof target !== 'string')
    refusals.refuse(`${pointer}/target`, 'wrong_type', 'It must be a text.');
  else if (target !== CONTACT && !isUuid(target))
    refusals.refuse(`${pointer}/target`, 'invalid_format', 'It must be contact or the id of a definition.');
  if (target !== CONTACT) {
    if (onErasure !== undefined)
      refusals.refuse(`${pointer}/on_erasure`, 'not_allowed', 'Only references to contacts have it.');
    return { target: typeof target === 'string' ? target.toLowerCase() : '' };
  }
  if (onErasure === undefined || onErasure === 'delete') return { target, on_erasure: 'delete' };
  if (onErasure !== 'clear')
    refusals.refuse(`${pointer}/on_erasure`, 'invalid_enum', 'It must be delete or clear.');
  else if (given['required'] === true)
    refusals.refuse(`${pointer}/on_erasure`, 'not_allowed', 'What is required cannot be cleared.');
  return { target, on_erasure: onErasure };
}

function readLength(refusals: Refusals, value: unknown, pointer: string): number {
  if (value === undefined) return USUAL_TEXT;
  if (typeof value !== 'number' || !Number.isInteger(value))
    refusals.refuse(pointer, 'wrong_type', 'It must be an integer.');
  else if (value >= 1 && value <= LONGEST_TEXT) return value;
  else refusals.refuse(pointer, 'out_of_range', `It must be from 1 to ${String(LONGEST_TEXT)}.`);
  return USUAL_TEXT;
}

function readBounds(refusals: Refusals, type: 'integer' | 'number', given: Given, pointer: string) {
  const bound = (name: 'min' | 'max'): number | null => {
    const value = given[name] ?? null;
    if (value === null) return null;
    if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value)))
      refusals.refuse(
        `${pointer}/${name}`,
        'wrong_type',
        `It must be ${type === 'integer' ? 'an integer' : 'a number'}.`,
      );
    else if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
    else refusals.refuse(`${pointer}/${name}`, 'out_of_range', 'It must be within ±(2^53 − 1).');
    return null;
  };
  const [min, max] = [bound('min'), bound('max')];
  if (min !== null && max !== null && min > max)
    refusals.refuse(`${pointer}/max`, 'out_of_range', '`max` must not be below `min`.');
  return { min, max };
}

function readOptions(refusals: Refusals, value: unknown, pointer: string): EnumOption[] {
  if (value === undefined) {
    refusals.refuse(pointer, 'required', 'An enum needs its options.');
    return [];
  }
  const items = refusals.list(value, pointer, MOST_OPTIONS);
  if (Array.isArray(value) && value.length === 0)
    refusals.refuse(pointer, 'too_short', 'An enum needs at least one option.');
  const options = items.flatMap((item, index): EnumOption[] => {
    const at = `${pointer}/${String(index)}`;
    const given = refusals.object(item, at, ['value', 'label', 'archived']);
    if (!given) return [];
    const named = refusals.text(given['value'], `${at}/value`, LONGEST_OPTION);
    return [
      {
        value: named,
        label: refusals.label(given['label'], `${at}/label`, named),
        archived: refusals.flag(given['archived'], `${at}/archived`),
      },
    ];
  });
  refusals.distinct(
    options.map((option) => option.value),
    (index) => `${pointer}/${String(index)}/value`,
  );
  return options;
}
