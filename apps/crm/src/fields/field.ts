/** One of the values that a field of the type `enum` takes. */
export interface EnumOption {
  readonly value: string;
  readonly label: string;
  /** Not to be chosen any more; where it was chosen it stays. */
  readonly archived: boolean;
}

interface FieldCommon {
  readonly key: string;
  readonly label: string;
  readonly required: boolean;
  /** Hidden and not writable; what is stored stays. */
  readonly archived: boolean;
}

/** A field that is defined by data: its name, its type, what that type takes (crm.md §3). */
export type Field = FieldCommon &
  (
    | { readonly type: 'string'; readonly max_length: number }
    | { readonly type: 'integer' | 'number'; readonly min: number | null; readonly max: number | null }
    | { readonly type: 'boolean' | 'date' | 'datetime' }
    | { readonly type: 'enum'; readonly options: readonly EnumOption[] }
  );

/** The types of fields. */
export type FieldType = Field['type'];

/** Values by the key of their field; what is absent reads null. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** Every type there is, as the API names it. */
export const FIELD_TYPES: readonly FieldType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'enum',
];

/** Characters of a text, at most, and unless said otherwise. */
export const LONGEST_TEXT = 10_000;
export const USUAL_TEXT = 255;
/** Options of an enum. */
export const MOST_OPTIONS = 200;
