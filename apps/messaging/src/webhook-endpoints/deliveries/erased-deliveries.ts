import { Injectable } from '@nestjs/common';
import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import {
  BackgroundJobs,
  ROWS_OF_A_PIECE,
  type Job,
  type Piece,
} from '../../background/jobs/background-jobs.js';

/** What waits is told to nobody; of what has ended the outcome stays, without what was said. */
const ERASED = `
  payload = NULL, contact_id = NULL, due_at = NULL, claim = NULL,
  state = CASE d.state WHEN 'pending' THEN 'failed' ELSE d.state END,
  error = CASE d.state WHEN 'pending' THEN 'erased' ELSE d.error END`;

/**
 * A try under way ends without a trace of it. By ctid (ADR 58): one that another transaction changed in between is read
 * again.
 */
const ERASE = `
  WITH piece AS (
    SELECT ctid FROM webhook_deliveries
     WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND payload IS NOT NULL
     LIMIT ${String(ROWS_OF_A_PIECE)} FOR UPDATE
  ), erased AS (
    UPDATE webhook_deliveries d SET ${ERASED} FROM piece
     WHERE d.organization_id = $1 AND d.ctid = piece.ctid RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM piece) AS read, (SELECT count(*)::int FROM erased) AS erased`;

const OTHERS_WAIT = `
  SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND contact_id IS NULL AND payload IS NOT NULL LIMIT 1`;

/**
 * From event to event, in the order of their index. All deliveries of an event belong to one piece. Up to the last of the
 * piece, without a join to it (ADR 58).
 */
const ERASE_UNNAMED = `
  WITH piece AS (
    SELECT event_id FROM webhook_deliveries
     WHERE organization_id = $1 AND contact_id IS NULL AND payload IS NOT NULL
       AND event_id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY event_id FETCH FIRST ${String(ROWS_OF_A_PIECE)} ROWS WITH TIES
  ), gone AS (
    UPDATE webhook_deliveries d SET ${ERASED}
     WHERE organization_id = $1 AND contact_id IS NULL AND payload IS NOT NULL
       AND event_id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
       AND event_id <= (SELECT event_id FROM piece ORDER BY event_id DESC LIMIT 1)
       AND strpos(payload, $2::uuid::text) > 0
  )
  SELECT event_id FROM piece ORDER BY event_id`;

/**
 * What has not been told yet of an erased person is told to nobody, and what has been is kept no longer. What is about one contact says so in its row, and
 * goes with the erasure. The rest (about several contacts, or queued by the release before) is gone through behind it,
 * in pieces, however much of it there is.
 */
@Injectable()
export class ErasedDeliveries {
  constructor(private readonly jobs: BackgroundJobs) {
    jobs.handle('erase_deliveries', (tx, job) => this.erasePiece(tx, job));
  }

  /** @returns of how many the body is gone, of those that are about one contact */
  async erase(tx: Transaction, contactIds: readonly string[]): Promise<number> {
    let count = 0;
    for (let read = -1; read !== 0;) {
      const [piece] = await tx.query<{ read: number; erased: number }>(ERASE, [
        tx.organizationId,
        contactIds,
      ]);
      read = piece?.read ?? 0;
      count += piece?.erased ?? 0;
    }
    const others = await tx.query(OTHERS_WAIT, [tx.organizationId]);
    if (others.length > 0) for (const id of contactIds) await this.jobs.add(tx, 'erase_deliveries', id);
    return count;
  }

  private async erasePiece(tx: WorkerTransaction, { target_id: contactId, position }: Job): Promise<Piece> {
    const rows = await tx.query<{ event_id: string }>(ERASE_UNNAMED, [
      tx.organizationId,
      contactId,
      position,
    ]);
    const last = rows.at(-1);
    return last && rows.length >= ROWS_OF_A_PIECE ? { position: last.event_id } : 'done';
  }
}
