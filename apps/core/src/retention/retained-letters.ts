import { removalOf, type PieceRow, type RetainedKind } from '@customer-platform/database';

/** Why a letter is closed whose event was taken out of it. */
const PAYLOAD_REMOVED = 'payload_removed';

/**
 * One that waits can never be run again: it is closed. What is being run at this moment is left to a later pass, and so is
 * what another transaction changes meanwhile (by ctid: ADR 58).
 */
const EMPTY = `
  WITH piece AS (
    SELECT ctid, id, last_failed_at FROM dead_letters
     WHERE organization_id = $1 AND payload IS NOT NULL AND last_failed_at < $2
       AND ($4::timestamptz IS NULL OR (last_failed_at, id) > ($4::timestamptz, $5::uuid))
     ORDER BY last_failed_at, id LIMIT $3
  ), free AS (
    SELECT letter.ctid FROM dead_letters AS letter JOIN piece ON letter.ctid = piece.ctid
     WHERE letter.organization_id = $1 AND letter.state <> 'replaying' AND letter.last_failed_at < $2
       FOR UPDATE OF letter SKIP LOCKED
  ), gone AS (
    UPDATE dead_letters AS letter
       SET payload = NULL, remainder = NULL, updated_at = now(),
           closed_reason = CASE WHEN state = 'pending' THEN '${PAYLOAD_REMOVED}' ELSE closed_reason END,
           state = CASE WHEN state = 'pending' THEN 'closed' ELSE state END
      FROM free WHERE letter.organization_id = $1 AND letter.ctid = free.ctid
    RETURNING letter.last_failed_at
  ), last AS (
    SELECT last_failed_at, id FROM piece ORDER BY last_failed_at DESC, id DESC LIMIT 1
  )
  SELECT (SELECT count(*)::int FROM gone) AS removed, (SELECT max(last_failed_at) FROM gone) AS until,
         (SELECT count(*)::int FROM piece) AS read, last.last_failed_at AS at, last.id
    FROM (SELECT) AS one LEFT JOIN last ON true`;

const OLDEST = `
  SELECT last_failed_at AS at FROM dead_letters
   WHERE organization_id = $1 AND payload IS NOT NULL ORDER BY last_failed_at, id LIMIT 1`;

/** The events that dead letters hold, by when they failed last; the letters stay, and say why they are empty. */
export const RETAINED_LETTERS: RetainedKind = {
  kind: 'dead_letters',
  async remove(tx, { before, most, after }) {
    const [at = null, id = null] = after ?? [];
    const [row] = await tx.query<PieceRow>(EMPTY, [tx.organizationId, before, most, at, id]);
    return removalOf(row, most);
  },
  async oldest(tx) {
    const [row] = await tx.query<{ at: Date }>(OLDEST, [tx.organizationId]);
    return row?.at ?? null;
  },
};
