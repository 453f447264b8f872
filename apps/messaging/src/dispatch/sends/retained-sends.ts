import { removalOf, type PieceRow, type RetainedKind } from '@customer-platform/database';
import { OPEN_STATES } from '../../vocabulary/sends/send-state.js';

/**
 * What was said goes, and the message in the inbox with it; that it was sent, to whom, when and what came of it stays. What
 * has not ended yet is left to a later pass, and so is what another transaction changes meanwhile (by ctid: ADR 58).
 */
const EMPTY = `
  WITH piece AS (
    SELECT ctid, id, created_at FROM sends
     WHERE organization_id = $1 AND content_removed_at IS NULL AND created_at < $2
       AND ($4::timestamptz IS NULL OR (created_at, id) > ($4::timestamptz, $5::uuid))
     ORDER BY created_at, id LIMIT $3
  ), free AS (
    SELECT send.ctid, send.id FROM sends AS send JOIN piece ON send.ctid = piece.ctid
     WHERE send.organization_id = $1 AND send.content_removed_at IS NULL AND send.due_at IS NULL
       AND send.state <> ALL($7::text[])
       FOR UPDATE OF send SKIP LOCKED
  ), gone AS (
    UPDATE sends AS send
       SET subject = NULL, metadata = NULL, recipient = send.recipient #- '{link,names}', content_removed_at = $6, updated_at = $6
      FROM free WHERE send.organization_id = $1 AND send.ctid = free.ctid
    RETURNING send.id, send.created_at
  ), told AS (
    DELETE FROM notifications AS told USING free WHERE told.organization_id = $1 AND told.id = free.id
  ), last AS (
    SELECT created_at, id FROM piece ORDER BY created_at DESC, id DESC LIMIT 1
  )
  SELECT (SELECT count(*)::int FROM gone) AS removed, (SELECT max(created_at) FROM gone) AS until,
         (SELECT count(*)::int FROM piece) AS read, last.created_at AS at, last.id
    FROM (SELECT) AS one LEFT JOIN last ON true`;

const OLDEST = `
  SELECT created_at AS at FROM sends
   WHERE organization_id = $1 AND content_removed_at IS NULL ORDER BY created_at, id LIMIT 1`;

/** The content of sends that have ended, by when they were asked for. */
export const RETAINED_SENDS: RetainedKind = {
  kind: 'sends',
  async remove(tx, { before, now, most, after }) {
    const [at = null, id = null] = after ?? [];
    const given = [tx.organizationId, before, most, at, id, now, OPEN_STATES];
    const [row] = await tx.query<PieceRow>(EMPTY, given);
    return removalOf(row, most);
  },
  async oldest(tx) {
    const [row] = await tx.query<{ at: Date }>(OLDEST, [tx.organizationId]);
    return row?.at ?? null;
  },
};
