import type { Schemas } from '@customer-platform/client';
import { dateIn, instantIn, isId, sortIn, textIn } from '../ui/search-params.ts';
import { valueFiltersIn, type ValueFilters } from './value-filters.ts';

export const FIELD_TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'enum',
  'reference',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** The target of a field that refers to a contact. */
export const CONTACT = 'contact';
/** How many fields of one definition lists can filter and sort by. */
export const MOST_INDEXED = 10;

export interface EnumOption {
  value: string;
  label: string;
  archived: boolean;
}

/** A field of a definition as it is answered (crm.md §3): which of the others it has depends on its type. */
export interface ObjectField {
  key: string;
  label: string;
  type: FieldType;
  required: boolean;
  unique: boolean;
  indexed: boolean;
  archived: boolean;
  max_length?: number;
  min?: number | null;
  max?: number | null;
  options?: readonly EnumOption[];
  target?: string;
  on_erasure?: 'delete' | 'clear';
  index_state: 'building' | 'ready' | null;
  index_progress?: { processed: number; total: number };
}

export type ObjectDefinition = Omit<Schemas['ObjectDefinitionDto'], 'fields'> & {
  fields: readonly ObjectField[];
};
export type Values = Readonly<Record<string, unknown>>;
export type ObjectRecord = Omit<Schemas['ObjectRecordDto'], 'values'> & { values: Values };

/** The definition as the API answers it, with its fields read. */
export function definitionOf(answer: Schemas['ObjectDefinitionDto']): ObjectDefinition {
  return answer as unknown as ObjectDefinition;
}

/** Fields that are shown and written. */
export function openFields({ fields }: Pick<ObjectDefinition, 'fields'>): readonly ObjectField[] {
  return fields.filter(({ archived }) => !archived);
}

/** Fields that the list of records filters and sorts by now. */
export function filterFields(definition: Pick<ObjectDefinition, 'fields'>): readonly ObjectField[] {
  return openFields(definition).filter((field) => field.indexed && field.index_state === 'ready');
}

/** What one calls a record: its first text, one that is unique before others; else the beginning of its id. */
export function nameOfRecord(
  { fields }: Pick<ObjectDefinition, 'fields'>,
  { id, values }: ObjectRecord,
): string {
  const texts = openFields({ fields }).filter(({ type }) => type === 'string');
  const named = [...texts.filter(({ unique }) => unique), ...texts].map(({ key }) => values[key]);
  const name = named.find((value): value is string => typeof value === 'string' && value !== '');
  return name ?? id.slice(0, 8);
}

/** As a call of the API takes it: filters by values are named by a definition's fields, which no type knows. */
export function asQuery(query: object): Record<string, never> {
  return query as Record<string, never>;
}

const NUMBER = /^-?(?:\d+|\d*\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/** The filters of an address by values that the definition's list filters by, and could find: others are not passed on. */
export function knownFilters(
  definition: Pick<ObjectDefinition, 'fields'>,
  search: Readonly<Record<string, unknown>>,
): ValueFilters {
  const fields = new Map(filterFields(definition).map((field) => [field.key, field]));
  return Object.fromEntries(
    Object.entries(valueFiltersIn(search)).filter(([name, value]) => {
      const [, key = '', op] = /^values\.(\w+)(?:\[(\w+)\])?$/.exec(name) ?? [];
      const field = fields.get(key);
      return field !== undefined && takes(field, op, value);
    }),
  );
}

/** An order that the definition's list has. */
export function knownSort(
  definition: Pick<ObjectDefinition, 'fields'>,
  search: Readonly<Record<string, unknown>>,
): string | undefined {
  const values = filterFields(definition).map(({ key }) => `values.${key}`);
  return sortIn(search, 'sort', ['created_at', 'updated_at', ...values]);
}

function takes(field: ObjectField, op: string | undefined, value: string): boolean {
  const inOrder = op === undefined || op === 'gte' || op === 'lte';
  switch (field.type) {
    case 'string':
      return (op === undefined || op === 'prefix') && textIn({ value }, 'value') === value;
    case 'integer':
      return inOrder && /^-?\d+$/.test(value) && Number.isSafeInteger(Number(value));
    case 'number':
      return inOrder && NUMBER.test(value) && Number.isFinite(Number(value));
    case 'date':
      return inOrder && dateIn({ value }, 'value') === value;
    case 'datetime':
      return inOrder && instantIn({ value }, 'value') !== undefined;
    case 'boolean':
      return op === undefined && (value === 'true' || value === 'false');
    case 'enum':
      return op === undefined && (field.options ?? []).some((option) => option.value === value);
    case 'reference':
      return op === undefined && isId(value);
  }
}
