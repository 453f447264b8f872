/** Columns by the reason for which they stand on a list; the columns stand in one text, parted by spaces. */
type ByReason = Readonly<Record<string, string>>;

/** Says that rows of the table keep their organization from being purged. */
export const COUNTED = 'counted';

/** Says that rows of the table go when identity purges their organization. */
export const GOES = 'goes with the organization';

/** Says that the rows of the table say nothing of a person whose data could be asked for. */
export const NOBODY = 'says nothing of a contact';

/**
 * What becomes of the rows of a table that tenants have: each of its columns stands on exactly one list, but for
 * `organization_id`. A reason of a column that stays begins with the file that reads it, from `src` of the module or from
 * `libs`: `notes/notes.service.ts: what staff wrote`; of one that nobody reads with `unread`.
 */
export interface TenantTable {
  /** What an erasure takes away, with its row or out of it. */
  readonly erased?: string;
  /** What stays although it says something. */
  readonly kept?: ByReason;
  /** Ids, times, counts and the state of work. */
  readonly technical?: ByReason;
  /** {@link COUNTED}, {@link GOES}, or why rows of it keep no organization from being purged. */
  readonly organization: string;
  /** As which resource a person's archive gives it and what of it is not given, or why it is not given. */
  readonly archive: string | { readonly as: string; readonly withheld?: ByReason };
  /** `by <file>`, which removes rows that have had their time, or `stays: <why>`. */
  readonly removed: string;
}

/** The tables of a module by their names. */
export type TenantTables = Readonly<Record<string, TenantTable>>;

/** The names in a text of a list. */
export function columnsIn(list: string | undefined): string[] {
  return (list ?? '').split(/\s+/u).filter((name) => name !== '');
}
