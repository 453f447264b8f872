import { mismatch, type Cursors, type CursorScope } from './cursors.js';
import type { ListQuery, ListSort } from './list-definition.js';
import { isTextCollation } from './text-collations.js';

/** Separates what a cursor is bound to from the collation of its order; no fingerprint contains it. */
const COLLATED = '@';

/** A cursor; one in the order of a collation names it, and has its version behind the values. */
export function issueCursor(
  cursors: Cursors,
  scope: CursorScope,
  sort: readonly ListSort[],
  values: readonly (string | null)[],
  version?: string,
): string {
  const collation = sort.find((level) => level.collation)?.collation;
  if (collation === undefined) return cursors.encode(scope, values);
  return cursors.encode({ ...scope, query: scope.query + COLLATED + collation }, [...values, version ?? '']);
}

/**
 * The position of a cursor and the order in which its walk goes on: that in which it began, though the organization has
 * another language since.
 * @throws `invalid_cursor`, `cursor_mismatch`
 */
export function readCursor(
  cursors: Cursors,
  scope: CursorScope,
  sort: readonly ListSort[],
  cursor: string | undefined,
): Pick<ListQuery, 'sort' | 'after' | 'collationVersion'> {
  if (cursor === undefined) return { sort };
  if (!sort.some(({ collation }) => collation)) return { sort, after: cursors.decode(scope, cursor) };
  const { query, values } = cursors.open(scope, cursor);
  const [bound, name] = query.split(COLLATED);
  if (bound !== scope.query) throw mismatch();
  // Issued by a release that sorted by bytes: it goes on so to its end.
  if (name === undefined) return { sort: sort.map(({ collation: _, ...level }) => level), after: values };
  if (!isTextCollation(name)) throw mismatch();
  return {
    sort: sort.map((level) => (level.collation ? { ...level, collation: name } : level)),
    after: values.slice(0, sort.length),
    collationVersion: values[sort.length] ?? '',
  };
}
