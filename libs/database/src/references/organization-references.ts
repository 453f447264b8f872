import type { ReferenceSource } from './references.options.js';

/** As identity names the resource. */
const ORGANIZATIONS = 'identity.organizations';
/** Whether an organization may be purged does not wait until all its events are counted. */
const COUNTED_AT_MOST = 10_000;

/** A table whose rows keep their organization from being purged. */
interface HeldTable {
  table: string;
  /** SQL over its columns: which of its rows. All unless given. */
  which?: string;
  /** As the caller of the purge is told; the table's name unless given. */
  resource?: string;
}

/**
 * What identity is told before it purges an organization: the rows that somebody has made or sent in the module,
 * soft-deleted ones too. Not what every organization is given, nor what a module derives from rows that are counted,
 * nor what it keeps to itself. At most 10,000 of a table are counted. Nobody asks for a hold on an organization: its
 * credentials have been refused since its deletion.
 */
export function referencesToOrganization(tables: readonly HeldTable[]): ReferenceSource[] {
  return tables.map(({ table, which, resource = table }) => ({
    to: ORGANIZATIONS,
    resource,
    count: `
      SELECT count(*)::int AS count FROM (
        SELECT FROM ${table} WHERE organization_id = $1 AND $1 = $2::uuid${which ? ` AND (${which})` : ''}
         LIMIT ${String(COUNTED_AT_MOST)}) AS counted`,
  }));
}
