import { removalOf, type PieceRow, type RetainedKind } from '@customer-platform/database';

/** What was stored a moment ago may still be in the hands of who stored it, or of a repeat that waits for it. */
const SETTLED_AFTER_MS = 3_600_000;

/**
 * Of each event stays what a repeat is known by. One whose dead letter waits is left: a replay reads it. By when they were
 * accepted, in the order of an index, from where the piece before ended: what was deleted is not read again.
 * What was stored by a late replay counts from when it was stored.
 */
const REMOVE = `
  WITH piece AS (
    SELECT id, received_at FROM events
     WHERE organization_id = $1 AND received_at < $2
       AND ($4::timestamptz IS NULL OR (received_at, id) > ($4::timestamptz, $5::uuid))
     ORDER BY received_at, id LIMIT $3
  ), gone AS (
    DELETE FROM events AS event USING piece
     WHERE event.organization_id = $1 AND event.id = piece.id AND event.created_at < least($2, $6)
       AND NOT EXISTS (SELECT FROM dead_letters AS letter
                        WHERE letter.organization_id = $1 AND letter.event_id = piece.id
                          AND letter.state IN ('pending', 'replaying'))
    RETURNING event.id, event.fingerprint, event.occurred_at
  ), traced AS (
    INSERT INTO removed_events (organization_id, id, fingerprint) SELECT $1, id, fingerprint FROM gone
    ON CONFLICT DO NOTHING
  ), last AS (
    SELECT received_at, id FROM piece ORDER BY received_at DESC, id DESC LIMIT 1
  )
  SELECT (SELECT count(*)::int FROM gone) AS removed, (SELECT max(occurred_at) FROM gone) AS until,
         (SELECT count(*)::int FROM piece) AS read, last.received_at AS at, last.id
    FROM (SELECT) AS one LEFT JOIN last ON true`;

const OLDEST = `SELECT received_at AS at FROM events WHERE organization_id = $1 ORDER BY received_at, id LIMIT 1`;

/** Events, by when they were accepted. What they did to contacts, segments and usage stays. */
export const RETAINED_EVENTS: RetainedKind = {
  kind: 'events',
  async remove(tx, { before, now, most, after }) {
    const [at = null, id = null] = after ?? [];
    const settled = new Date(now.getTime() - SETTLED_AFTER_MS);
    const [row] = await tx.query<PieceRow>(REMOVE, [tx.organizationId, before, most, at, id, settled]);
    return removalOf(row, most);
  },
  async oldest(tx) {
    const [row] = await tx.query<{ at: Date }>(OLDEST, [tx.organizationId]);
    return row?.at ?? null;
  },
};
