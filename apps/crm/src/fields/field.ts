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
    | ReferenceType
  );

/** The target of a reference to a contact; any other target is the id of a definition. */
export const CONTACT = 'contact';

/** What becomes of a record when the contact that a field refers to is erased. */
type OnErasure = 'delete' | 'clear';

interface ReferenceType {
  readonly type: 'reference';
  /** `contact`, or the id of the definition whose records are referred to. */
  readonly target: string;
  /** Of references to contacts only. */
  readonly on_erasure?: OnErasure;
}

/** A field of a custom object. */
export type ObjectField = Field & { readonly unique: boolean; readonly indexed: boolean };

/** A field that refers to a contact or a record. */
export type ReferenceField = Extract<Field, { type: 'reference' }>;

/** The types of fields. */
export type FieldType = Field['type'];

/** Values by the key of their field; what is absent reads null. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** The types of fields that hold a value of their own, as the API names them. */
export const VALUE_TYPES: readonly FieldType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'enum',
];

/** Every type there is. */
export const FIELD_TYPES: readonly FieldType[] = [...VALUE_TYPES, 'reference'];

/** Characters of a text, at most, and unless said otherwise. */
export const LONGEST_TEXT = 10_000;
export const USUAL_TEXT = 255;
/** Options of an enum. */
export const MOST_OPTIONS = 200;
/** Characters of a text that is indexed: what an index of the database takes, whatever the characters. */
export const LONGEST_INDEXED_TEXT = 500;
/** Fields of one definition that lists filter and sort by. */
export const MOST_INDEXED = 10;
