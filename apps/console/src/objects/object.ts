import type { Schemas } from '@customer-platform/client';

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

/** How the list of a definition's records is filtered: `values.year[gte]` → `2020`. */
type ValueFilters = Readonly<Record<string, string>>;

/** As a call of the API takes it: filters by values are named by a definition's fields, which no type knows. */
export function asQuery(query: object): Record<string, never> {
  return query as Record<string, never>;
}

const FILTER = /^values\.[a-z][a-z0-9_]{1,39}(\[(prefix|gte|lte)\])?$/;

/** The filters by values that an address holds. */
export function valueFiltersIn(search: Readonly<Record<string, unknown>>): ValueFilters {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => {
      const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
      return FILTER.test(name) && typeof text === 'string' && text !== '' ? [[name, text]] : [];
    }),
  );
}
