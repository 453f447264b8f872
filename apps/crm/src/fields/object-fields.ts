import { demandsOf, type FieldDemands } from './field-changes.js';
import {
  CONTACT,
  FIELD_TYPES,
  LONGEST_INDEXED_TEXT,
  MOST_INDEXED,
  type Field,
  type ObjectField,
} from './field.js';
import { readAll, type FieldForm, type ReadField } from './read-fields.js';
import type { Refusals } from './refusals.js';

/** Fields that one definition of objects may have. */
export const MOST_OBJECT_FIELDS = 100;

const FORM: FieldForm = { types: FIELD_TYPES, further: ['unique', 'indexed'] };

/** Reads the fields of a definition of objects as a body gives them; what is wrong goes to `refusals`. */
export function readObjectFields(refusals: Refusals, value: unknown): ObjectField[] {
  const read = readAll(refusals, value, '/fields', { most: MOST_OBJECT_FIELDS, form: FORM });
  const fields = read.map((each) => withIndex(refusals, each));
  const indexed = fields.filter((field) => field.indexed);
  if (indexed.length > MOST_INDEXED)
    refusals.refuse('/fields', 'too_long', `At most ${String(MOST_INDEXED)} fields can be indexed.`);
  return fields;
}

/** What a change of a definition's fields asks of its records; unique values are exactly as much of a bound. */
export function objectDemands(
  refusals: Refusals,
  before: readonly ObjectField[],
  after: readonly ObjectField[],
): FieldDemands {
  return demandsOf(refusals, before, after, (former, field) => field.unique && !former.unique);
}

/** Whether a field refers to contacts. */
export function refersToContact(field: Field): boolean {
  return field.type === 'reference' && field.target === CONTACT;
}

/** The definitions that fields refer to, with the place of each in `fields`. */
export function targetsOf(fields: readonly Field[]): { target: string; index: number }[] {
  return fields.flatMap((field, index) =>
    field.type === 'reference' && field.target !== CONTACT ? [{ target: field.target, index }] : [],
  );
}

function withIndex(refusals: Refusals, { field, given, pointer }: ReadField): ObjectField {
  const unique = refusals.flag(given['unique'], `${pointer}/unique`);
  const indexed = refusals.flag(given['indexed'], `${pointer}/indexed`) || unique;
  // Two contacts of which each is referred to once may become one.
  if (unique && refersToContact(field))
    refusals.refuse(`${pointer}/unique`, 'not_allowed', 'A reference to a contact cannot be unique.');
  if (indexed && field.type === 'string' && field.max_length > LONGEST_INDEXED_TEXT)
    refusals.refuse(
      `${pointer}/max_length`,
      'out_of_range',
      `A text that is indexed may have at most ${String(LONGEST_INDEXED_TEXT)} characters.`,
    );
  return { ...field, unique, indexed };
}
