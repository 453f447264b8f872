/** The types that a field of a generated resource can have. */
const FIELD_TYPES = ['string', 'integer', 'boolean', 'time'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A field as it was asked for: `name:string:60:unique`. */
export interface Field {
  /** As in the API and the table: `due_at`. */
  name: string;
  /** As in the entity: `dueAt`. */
  property: string;
  type: FieldType;
  /** Characters; strings only. */
  max: number;
  optional: boolean;
  unique: boolean;
  immutable: boolean;
}

/** What every resource has anyway. */
const TAKEN = ['id', 'organization_id', 'created_at', 'updated_at', 'deleted_at'];

/** `due_at` → `dueAt`. */
export function camelCase(text: string): string {
  return text.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Reads `name:type[:max][:optional][:unique][:immutable]`.
 * @throws Error that says in one sentence what is wrong
 */
export function parseField(text: string): Field {
  const [name = '', type = '', ...rest] = text.split(':');
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))
    throw new Error(`"${text}": a field is named in snake_case.`);
  if (TAKEN.includes(name)) throw new Error(`"${text}": every resource has ${name} already.`);
  const known = FIELD_TYPES.find((each) => each === type);
  if (!known) throw new Error(`"${text}": the type is one of ${FIELD_TYPES.join(', ')}.`);
  const max = known === 'string' ? Number(rest.shift()) : 0;
  if (known === 'string' && !(Number.isInteger(max) && max >= 1 && max <= 10_000))
    throw new Error(
      `"${text}": a string says how many characters it has at most, such as ${name}:string:100.`,
    );
  const unknown = rest.find((word) => !['optional', 'unique', 'immutable'].includes(word));
  if (unknown !== undefined)
    throw new Error(`"${text}": "${unknown}" is none of optional, unique, immutable.`);
  const [optional, unique, immutable] = ['optional', 'unique', 'immutable'].map((word) =>
    rest.includes(word),
  );
  if (unique && (known !== 'string' || optional))
    throw new Error(`"${text}": only a string that must be given can be unique.`);
  return {
    name,
    property: camelCase(name),
    type: known,
    max,
    optional: Boolean(optional),
    unique: Boolean(unique),
    immutable: Boolean(immutable),
  };
}

/** Longer texts are read, not looked up. */
const LONGEST_FILTERED = 255;

/** Whether a list can be filtered by it. */
export function isFilter({ type, max }: Field): boolean {
  return type !== 'string' || max <= LONGEST_FILTERED;
}

/** @throws Error for fields that do not make a resource together */
export function checkFields(fields: readonly Field[]): void {
  if (new Set(fields.map(({ name }) => name)).size < fields.length)
    throw new Error('A field is named twice.');
  if (fields.filter(({ unique }) => unique).length > 1) throw new Error('At most one field can be unique.');
  if (!fields.some(({ immutable }) => !immutable))
    throw new Error('A resource has at least one field that can be changed.');
}
