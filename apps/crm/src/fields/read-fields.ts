import {
  FIELD_TYPES,
  LONGEST_TEXT,
  MOST_OPTIONS,
  USUAL_TEXT,
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
};
const LONGEST_OPTION = 200;

type Given = Readonly<Record<string, unknown>>;

/** Reads definitions of fields as a body gives them, with their defaults filled in; what is wrong goes to `refusals`. */
export function readFields(refusals: Refusals, value: unknown, pointer: string, most: number): Field[] {
  const fields = refusals
    .list(value, pointer, most)
    .flatMap((item, index) => readField(refusals, item, `${pointer}/${String(index)}`) ?? []);
  refusals.distinct(
    fields.map(({ key }) => key),
    (index) => `${pointer}/${String(index)}/key`,
  );
  return fields;
}

function readField(refusals: Refusals, value: unknown, pointer: string): Field | undefined {
  const type = FIELD_TYPES.find((each) => each === (value as { type?: unknown } | null)?.type);
  const given = refusals.object(value, pointer, [...COMMON, ...(type ? OPTIONS[type] : allOptions())]);
  if (!given) return undefined;
  const key = refusals.key(given['key'], `${pointer}/key`);
  const common = {
    key,
    label: refusals.label(given['label'], `${pointer}/label`, key),
    required: refusals.flag(given['required'], `${pointer}/required`),
    archived: refusals.flag(given['archived'], `${pointer}/archived`),
  };
  if (type) return { ...common, ...ofType(refusals, type, given, pointer) };
  if (given['type'] === undefined) refusals.refuse(`${pointer}/type`, 'required', 'It is required.');
  else refusals.refuse(`${pointer}/type`, 'invalid_enum', `It must be one of ${FIELD_TYPES.join(', ')}.`);
  return { ...common, type: 'boolean' };
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
    case 'boolean':
    case 'date':
    case 'datetime':
      return { type };
  }
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

function allOptions(): string[] {
  return [...new Set(Object.values(OPTIONS).flat())];
}
