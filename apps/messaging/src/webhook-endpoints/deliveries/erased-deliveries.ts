import { Injectable } from '@nestjs/common';
import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import { BackgroundJobs, ROWS_OF_A_PIECE, type Job, type Piece } from '../../jobs/background-jobs.js';

/** What waits is told to nobody; of what has ended the outcome stays, without what was said. */
const ERASED = `
  payload = NULL, contact_id = NULL, due_at = NULL, claim = NULL,
  state = CASE d.state WHEN 'pending' THEN 'failed' ELSE d.state END,
  error = CASE d.state WHEN 'pending' THEN 'erased' ELSE d.error END`;

/** A try under way ends without a trace of it. */
const ERASE = `
  WITH piece AS (
    SELECT endpoint_id, event_id FROM webhook_deliveries
     WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND payload IS NOT NULL
     LIMIT ${String(ROWS_OF_A_PIECE)} FOR UPDATE
  )
  UPDATE webhook_deliveries d SET ${ERASED} FROM piece
   WHERE d.organization_id = $1 AND d.endpoint_id = piece.endpoint_id AND d.event_id = piece.event_id
  RETURNING 1`;

const OTHERS_WAIT = `
  SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND contact_id IS NULL AND payload IS NOT NULL LIMIT 1`;

/** From event to event, in the order of their index. All deliveries of an event belong to one piece. */
const ERASE_UNNAMED = `
  WITH piece AS (
    SELECT endpoint_id, event_id FROM webhook_deliveries
     WHERE organization_id = $1 AND contact_id IS NULL AND payload IS NOT NULL
       AND event_id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY event_id FETCH FIRST ${String(ROWS_OF_A_PIECE)} ROWS WITH TIES
  ), gone AS (
    UPDATE webhook_deliveries d SET ${ERASED} FROM piece
     WHERE d.organization_id = $1 AND d.endpoint_id = piece.endpoint_id AND d.event_id = piece.event_id
       AND strpos(d.payload, $2::uuid::text) > 0
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
    for (let last = -1; last !== 0; count += last)
      last = (await tx.query(ERASE, [tx.organizationId, contactIds])).length;
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
