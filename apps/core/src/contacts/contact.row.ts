/** What a contact is to other modules. */
export type ContactState = 'active' | 'merged' | 'deleted' | 'erased';

/** A row of the table of contacts, as far as it is read. */
export interface ContactRow {
  id: string;
  external_id: string | null;
  email: string | null;
  phone: string | null;
  first_name: string | null;
  last_name: string | null;
  locale: string | null;
  timezone: string | null;
  country: string | null;
  attributes: Record<string, unknown>;
  version: number;
  merged_into: string | null;
  deleted_at: Date | null;
  erased_at: Date | null;
}

/** The columns of {@link ContactRow}. */
export const CONTACT_COLUMNS = `id, external_id, email, phone, first_name, last_name, locale, timezone, country,
  attributes, version, merged_into, deleted_at, erased_at`;

/** The state of a contact: each is in exactly one. */
export function stateOf(row: Pick<ContactRow, 'merged_into' | 'deleted_at' | 'erased_at'>): ContactState {
  if (row.erased_at) return 'erased';
  if (row.merged_into) return 'merged';
  return row.deleted_at ? 'deleted' : 'active';
}

/** The contact as other modules may know it: never the national id. */
export function snapshotOf(row: ContactRow) {
  const { id, external_id, email, phone, first_name, last_name, locale, timezone, country, attributes } = row;
  const names = { first_name, last_name, locale, timezone, country };
  return { id, external_id, email, phone, ...names, attributes, state: stateOf(row) };
}
