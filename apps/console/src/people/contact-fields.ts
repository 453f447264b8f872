import type { Schemas } from '@customer-platform/client';

/** The fields that a change of a contact takes and that hold one text: the API's, so that a new one is missed here. */
type WrittenField = Exclude<keyof Schemas['UpdateContactDto'], 'national_id' | 'attributes'>;

/** The way in which a field is asked for. */
interface AskedField {
  readonly input: 'text' | 'email' | 'tel' | 'date';
  /** Set where it has words on how it is written, `hints` in the messages. */
  readonly hinted: boolean;
  /** Names of columns of files that seem to fill it, without case and accents. */
  readonly columns: RegExp;
}

/** A contact's fields, in the order in which they are shown. Their labels are `fields` in the messages. */
export const CONTACT_FIELDS = {
  first_name: { input: 'text', hinted: false, columns: /^(first_?name|given_?name|name|nombres?)$/ },
  last_name: { input: 'text', hinted: false, columns: /^(last_?name|surname|family_?name|apellidos?)$/ },
  email: { input: 'email', hinted: false, columns: /^(e_?mail|mail|correo(_electronico)?)$/ },
  phone: { input: 'tel', hinted: true, columns: /^(phone|telephone|tel|mobile|telefono|celular|movil)$/ },
  external_id: {
    input: 'text',
    hinted: false,
    columns: /^(external_?id|id|code|codigo|customer_?(id|no|number)|n_?cliente)$/,
  },
  birth_date: {
    input: 'date',
    hinted: false,
    columns: /^(birth_?(date|day)|date_of_birth|fecha_(de_)?nacimiento)$/,
  },
  country: { input: 'text', hinted: true, columns: /^(country|pais)$/ },
  locale: { input: 'text', hinted: true, columns: /^(locale|language|idioma)$/ },
  timezone: { input: 'text', hinted: true, columns: /^(time_?zone|zona_horaria)$/ },
} as const satisfies Record<WrittenField, AskedField>;

type Table = typeof CONTACT_FIELDS;
export type ContactField = keyof Table;
type HintedField = {
  [Field in ContactField]: Table[Field]['hinted'] extends true ? Field : never;
}[ContactField];

export const CONTACT_FIELD_NAMES = Object.keys(CONTACT_FIELDS) as ContactField[];

export function isHinted(field: ContactField): field is HintedField {
  return CONTACT_FIELDS[field].hinted;
}

/** Each field with what is made of its name. */
export function byField<Value>(of: (field: ContactField) => Value): Record<ContactField, Value> {
  return Object.fromEntries(CONTACT_FIELD_NAMES.map((field) => [field, of(field)])) as Record<
    ContactField,
    Value
  >;
}
