import { openFields, type ObjectDefinition, type ObjectField, type Values } from './object.ts';

/** The values of a record as the form holds them: each a text, empty for none. */
export type ValueDrafts = Readonly<Record<string, string>>;

export function draftsOf(definition: Pick<ObjectDefinition, 'fields'>, values: Values): ValueDrafts {
  return Object.fromEntries(openFields(definition).map(({ key }) => [key, textOf(values[key])]));
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** As the API takes them: typed, null where nothing is written. */
export function valuesOf(definition: Pick<ObjectDefinition, 'fields'>, drafts: ValueDrafts): Values {
  return Object.fromEntries(
    openFields(definition).map((field) => [field.key, valueOf(field, drafts[field.key] ?? '')]),
  );
}

function valueOf({ type }: Pick<ObjectField, 'type'>, text: string): unknown {
  if (text === '') return null;
  if (type === 'boolean') return text === 'true';
  return type === 'integer' || type === 'number' ? Number(text) : text;
}

/** Of what is written, what is another than what was read: the rest may be past writing, such as a contact that is gone. */
export function changedIn(before: Values, after: Values): Values {
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => value !== (before[key] ?? null)));
}

/** Without what nothing is written of. */
export function givenIn(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
