import type { Field } from '../../fields/field.js';

/** In which of the tables the values of a field stand. */
export type IndexKind = 'text' | 'number' | 'time' | 'id';

/** The tables, and the types of their values. */
export const INDEX_TABLES: Readonly<Record<IndexKind, string>> = {
  text: 'object_texts',
  number: 'object_numbers',
  time: 'object_times',
  id: 'object_ids',
};
/** As SQL casts texts to them. */
export const INDEX_TYPES: Readonly<Record<IndexKind, string>> = {
  text: 'text',
  number: 'double precision',
  time: 'timestamptz',
  id: 'uuid',
};

/** What stands for no value, behind all values; texts begin with a character of their own before it. */
export const NOTHING: Readonly<Record<IndexKind, string>> = {
  text: '~',
  number: 'NaN',
  time: 'infinity',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};
const TEXT = '=';
/** Of times that were stored before they were refused, and that the database cannot read: before all others. */
const YEAR_ZERO = { pattern: '0000-%', stands: '-infinity' };

/** @throws never: every type of field has a table */
export function kindOf({ type }: Field): IndexKind {
  switch (type) {
    case 'string':
    case 'enum':
      return 'text';
    case 'integer':
    case 'number':
    case 'boolean':
      return 'number';
    case 'date':
    case 'datetime':
      return 'time';
    case 'reference':
      return 'id';
  }
}

/** A value, stored or asked for, as it stands in the table of its field, as text. */
export function indexed(field: Field, value: unknown): string {
  if (value === undefined || value === null) return NOTHING[kindOf(field)];
  if (typeof value === 'boolean') return value ? '1' : '0';
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
  if (field.type === 'date') return `${text}T00:00:00.000Z`;
  if (field.type === 'datetime' && text.startsWith('0000-')) return YEAR_ZERO.stands;
  return kindOf(field) === 'text' ? TEXT + text.normalize('NFC') : text;
}

/** The same of the JSON of a record's values, as SQL over the key of the field, a place of the statement. */
export function indexedSql(field: Field, values: string, key: string): string {
  const kind = kindOf(field);
  const text = `${values}->>${key}`;
  const nothing = `'${NOTHING[kind]}'`;
  const value =
    kind === 'text'
      ? `'${TEXT}' || normalize(${text}, NFC)`
      : field.type === 'boolean'
        ? `(${text})::boolean::int::text`
        : field.type === 'date'
          ? `(${text}) || 'T00:00:00.000Z'`
          : field.type === 'datetime'
            ? `CASE WHEN (${text}) LIKE '${YEAR_ZERO.pattern}' THEN '${YEAR_ZERO.stands}' ELSE (${text}) END`
            : `(${text})`;
  const typed = `coalesce(${value}, ${nothing})::${INDEX_TYPES[kind]}`;
  return kind === 'text' ? `(${typed} COLLATE "C")` : typed;
}
