import { CONTACT_FIELDS, type ContactField } from './contact-field-table.js';

/** A column that a statement of many rows is given as text. */
interface GivenColumn {
  readonly column: string;
  /** The column as its own type. */
  readonly typed: string;
}

/** Answers the columns of some fields. */
export function columnsOf(fields: readonly ContactField[]): readonly GivenColumn[] {
  return fields.flatMap((field) =>
    Object.values<string>(CONTACT_FIELDS[field].columns).map((column) => ({
      column,
      typed: CONTACT_FIELDS[field].type === 'date' ? `${column}::date` : column,
    })),
  );
}

/** Writes `external_id AS "externalId"` and its like for the columns of some fields. */
export function asProperties(fields: readonly ContactField[]): string {
  return fields
    .flatMap((field) =>
      Object.entries<string>(CONTACT_FIELDS[field].columns).map(([property, column]) =>
        CONTACT_FIELDS[field].type === 'date'
          ? `${column}::text AS "${property}"`
          : `${column} AS "${property}"`,
      ),
    )
    .join(', ');
}

/** Writes `c.external_id` and its like for the values of some fields; a date is text, of which the driver makes no time. */
export function asFields(fields: readonly ContactField[], table: string): string {
  return fields
    .map((field) =>
      CONTACT_FIELDS[field].type === 'date' ? `${table}.${field}::text AS ${field}` : `${table}.${field}`,
    )
    .join(', ');
}
