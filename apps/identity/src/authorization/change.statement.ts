import type { NamedStatement } from './registry.pool.js';

/**
 * What changed since the cursor `$1` (null: nothing yet), and the next cursor: the oldest transaction still open in
 * the statement's own snapshot. A change that commits later has that number or a higher one, so the next read has it;
 * changes between the oldest open transaction and the newest committed one come again, which harms nobody.
 *
 * `horizon` is the first number not given out yet: a cursor beyond it is of another database. So is one of another
 * start of the server, for a restored or promoted server may give the same numbers out anew.
 */
export const READ_CHANGES: NamedStatement = {
  name: 'read_changes',
  text: `
WITH now AS MATERIALIZED (SELECT pg_current_snapshot() AS snapshot)
SELECT pg_snapshot_xmin(snapshot)::text AS cursor,
       pg_snapshot_xmax(snapshot) < $1::xid8 AS ahead,
       extract(epoch FROM pg_postmaster_start_time())::text AS incarnation,
       (SELECT coalesce(json_agg(json_build_object('organization_id', organization_id, 'epoch', epoch)), '[]')
          FROM organization_epochs WHERE changed_by >= $1::xid8) AS changes
  FROM now`,
};

/** The row of {@link READ_CHANGES}. */
export interface ChangesRow {
  cursor: string;
  ahead: boolean | null;
  incarnation: string;
  changes: { organization_id: string; epoch: number }[];
}
