import type { ListQuery } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Transaction } from '../transaction.js';

/**
 * The version of the collation in which a page is sorted, for its cursor; undefined where no text is sorted by language.
 * Asked anew for each page: PostgreSQL may be upgraded, or fail over, while this process lives.
 * @throws Problem `cursor_mismatch` if it is another than the cursor was issued under: the order has changed, and what
 * comes after its place in the new one is not what is left of the old
 */
export async function checkedCollationVersion(
  tx: Transaction,
  { sort, after, collationVersion }: Pick<ListQuery, 'sort' | 'after' | 'collationVersion'>,
): Promise<string | undefined> {
  const collation = sort.find((level) => level.collation)?.collation;
  if (collation === undefined) return undefined;
  const [found] = await tx.query<{ version: string | null }>(
    'SELECT pg_collation_actual_version($1::regcollation) AS version',
    [collation],
  );
  const version = found?.version ?? '';
  if (!after || collationVersion === version) return version;
  throw new Problem('cursor_mismatch', {
    detail: 'Texts are sorted by another version of their collation since the cursor was issued.',
    errors: [
      { parameter: 'cursor', code: 'cursor_mismatch', detail: 'Begin the list anew, without the cursor.' },
    ],
  });
}
