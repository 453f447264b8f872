import type { RetainedKind } from '@customer-platform/database';

/** What has ended, endpoint by endpoint; what waits for a disabled endpoint goes when all of its kind do. */
const ENDED = `organization_id = $1 AND state <> 'pending'`;

/** By ctid (ADR 58). */
const REMOVE = `
  WITH piece AS (
    SELECT delivery.ctid
      FROM webhook_endpoints AS endpoint,
           LATERAL (SELECT ctid FROM webhook_deliveries
                     WHERE ${ENDED} AND endpoint_id = endpoint.id AND created_at < $2
                     ORDER BY created_at, event_id LIMIT $3) AS delivery
     WHERE endpoint.organization_id = $1 LIMIT $3
  ), gone AS (
    DELETE FROM webhook_deliveries AS delivery USING piece
     WHERE delivery.organization_id = $1 AND delivery.ctid = piece.ctid AND delivery.state <> 'pending'
    RETURNING delivery.created_at
  )
  SELECT count(*)::int AS removed, max(created_at) AS until, (SELECT count(*)::int FROM piece) AS read FROM gone`;

const OLDEST = `
  SELECT min(oldest.created_at) AS at
    FROM webhook_endpoints AS endpoint,
         LATERAL (SELECT created_at FROM webhook_deliveries WHERE ${ENDED} AND endpoint_id = endpoint.id
                   ORDER BY created_at, event_id LIMIT 1) AS oldest
   WHERE endpoint.organization_id = $1`;

/** Deliveries to webhook endpoints that have ended, earlier than those of all organizations go. */
export const RETAINED_DELIVERIES: RetainedKind = {
  kind: 'webhook_deliveries',
  async remove(tx, { before, most }) {
    const [row] = await tx.query<{ removed: number; until: Date | null; read: number }>(REMOVE, [
      tx.organizationId,
      before,
      most,
    ]);
    const { removed = 0, until = null, read = 0 } = row ?? {};
    return read < most || removed === 0 ? { removed, until } : { removed, until, next: [] };
  },
  async oldest(tx) {
    const [row] = await tx.query<{ at: Date | null }>(OLDEST, [tx.organizationId]);
    return row?.at ?? null;
  },
};
