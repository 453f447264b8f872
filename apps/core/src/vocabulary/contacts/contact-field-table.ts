import { namesOf, type NamesOf, type SharedContactField } from '@customer-platform/events';

/** Names how values of a field are read, whichever way they come: `known-traits.ts` has the readers, `contact.dto.ts` the bounds. */
export type FieldReader =
  'external_id' | 'email' | 'phone' | 'name' | 'past_date' | 'locale' | 'timezone' | 'country';

/** The facts of a field of contacts. */
export interface FieldFacts {
  /** Properties of the entity, each with its column: the first holds the value, others follow from it. */
  readonly columns: Readonly<Record<string, string>>;
  /** The type of the first column. */
  readonly type: 'text' | 'date';
  readonly reader: FieldReader;
  /** Set where an identify sets it by its name: a trait that is no field becomes an attribute. */
  readonly trait: boolean;
  /** The column by which lists filter, and the operators that they take if not all of its type. */
  readonly filter: {
    readonly column: string;
    readonly ops?: readonly ('eq' | 'ne' | 'in' | 'is_null' | 'prefix')[];
  } | null;
  readonly example: string;
  /** The API's description of it. */
  readonly description?: string;
}

/**
 * Fields of a contact that hold one text each, in the order in which they are shown (core.md §2). All are personal: an
 * erasure blanks them, and an archive gives them. All may be imported, merged, corrected on request and asked for by
 * segments. Whatever reads or writes a contact derives from here: a new field is a line here, a migration, its words in the
 * Console, and where other modules are told of it a line in `SHARED_CONTACT_FIELDS`.
 */
export const CONTACT_FIELDS = {
  external_id: {
    columns: { externalId: 'external_id' },
    type: 'text',
    reader: 'external_id',
    trait: false,
    filter: { column: 'external_id' },
    example: 'customer-1042',
    description: 'Set once. Kept in NFC without invisible characters; case counts.',
  },
  email: {
    columns: { email: 'email', emailNormal: 'email_normal' },
    type: 'text',
    reader: 'email',
    trait: true,
    filter: { column: 'email_normal' },
    example: 'ana@example.com',
  },
  phone: {
    columns: { phone: 'phone' },
    type: 'text',
    reader: 'phone',
    trait: true,
    filter: { column: 'phone' },
    example: '+56912345678',
    description: 'E.164; a national form is read by `country`.',
  },
  first_name: {
    columns: { firstName: 'first_name' },
    type: 'text',
    reader: 'name',
    trait: true,
    filter: null,
    example: 'Ana',
  },
  last_name: {
    columns: { lastName: 'last_name' },
    type: 'text',
    reader: 'name',
    trait: true,
    filter: { column: 'last_name', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    example: 'Rojas',
  },
  birth_date: {
    columns: { birthDate: 'birth_date' },
    type: 'date',
    reader: 'past_date',
    trait: false,
    filter: null,
    example: '1990-05-17',
  },
  locale: {
    columns: { locale: 'locale' },
    type: 'text',
    reader: 'locale',
    trait: true,
    filter: null,
    example: 'es-CL',
    description: 'BCP 47.',
  },
  timezone: {
    columns: { timezone: 'timezone' },
    type: 'text',
    reader: 'timezone',
    trait: true,
    filter: null,
    example: 'America/Santiago',
    description: 'IANA name.',
  },
  country: {
    columns: { country: 'country' },
    type: 'text',
    reader: 'country',
    trait: true,
    filter: { column: 'country' },
    example: 'CL',
    description: 'ISO 3166-1 alpha-2.',
  },
} as const satisfies Record<SharedContactField, FieldFacts> & Record<string, FieldFacts>;

type Table = typeof CONTACT_FIELDS;

/** Names a field of a contact, as the API, events and imports do. */
export type ContactField = keyof Table;

/** The fields, each with a value of one type. */
export type ByField<Value> = { [Field in keyof Table]: Value };

type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Columns = Joined<Table[ContactField]['columns']>;

/** The columns of the fields, as the entity has them. */
export type FieldColumns = { -readonly [Property in keyof Columns]: string | null };

/** When each field and each attribute was last said to be what it is: ISO 8601 in UTC. */
export interface FieldTimes {
  fields: Record<string, string>;
  attributes: Record<string, string>;
}

/** Names a property of {@link FieldColumns}. */
export type FieldProperty = keyof FieldColumns;

/** A field that an identify sets by its name. */
export type KnownTrait = {
  [Field in ContactField]: Table[Field]['trait'] extends true ? Field : never;
}[ContactField];

/** Names the properties of a field. */
export type PropertyOf<Field extends ContactField> = NamesOf<Table[Field]['columns']>;

/** A field that is set by the API and by imports alone; the external id has rules of its own. */
export type AdministeredField = Exclude<ContactField, KnownTrait | 'external_id'>;

/** The names of all fields. */
export const FIELD_NAMES = namesOf(CONTACT_FIELDS);

const isTrait = (field: ContactField): field is KnownTrait => CONTACT_FIELDS[field].trait;
const isAdministered = (field: ContactField): field is AdministeredField =>
  !CONTACT_FIELDS[field].trait && field !== 'external_id';

/** Fields that an identify sets by name. */
export const TRAIT_FIELDS: readonly KnownTrait[] = FIELD_NAMES.filter(isTrait);

/** The same in the order in which they are read: a national phone number is one of the country. */
export const KNOWN_TRAITS: readonly KnownTrait[] = [
  'country',
  ...TRAIT_FIELDS.filter((field) => field !== 'country'),
];

/** Fields that the API and imports alone set, whatever else a contact has. */
export const ADMINISTERED_FIELDS: readonly AdministeredField[] = FIELD_NAMES.filter(isAdministered);

/** Answers the property that holds the value of a field. */
export function propertyOf<Field extends ContactField>(field: Field): PropertyOf<Field> {
  const [property] = namesOf<Table[Field]['columns']>(CONTACT_FIELDS[field].columns);
  if (property === undefined) throw new TypeError(`${field} has no column`);
  return property;
}

/** Answers the properties of some fields, with those that follow from their values. */
export function propertiesOf<Field extends ContactField>(
  fields: readonly Field[],
): readonly PropertyOf<Field>[] {
  return fields.flatMap((field) => namesOf<Table[Field]['columns']>(CONTACT_FIELDS[field].columns));
}

/** The properties of all fields, with those that follow from their values. */
export const FIELD_PROPERTIES = propertiesOf(FIELD_NAMES);

/** The columns of a national id, which is no text that could be read: it is sealed, and found by its keyed hash. */
export const NATIONAL_ID_COLUMNS = {
  nationalIdType: 'national_id_type',
  nationalIdIndex: 'national_id_index',
  nationalIdSealed: 'national_id_sealed',
  nationalIdMasked: 'national_id_masked',
} as const;
