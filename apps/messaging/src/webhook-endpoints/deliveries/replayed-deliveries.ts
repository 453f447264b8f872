import { Injectable } from '@nestjs/common';
import { Clock, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import {
  BackgroundJobs,
  ROWS_OF_A_PIECE,
  type Job,
  type Piece,
} from '../../background/jobs/background-jobs.js';
import { DeliverySignal } from './delivery-signal.js';

/** So much is due at once: what happens now waits behind one piece of what happened days ago, and not behind all. */
const IS_BUSY = `
  SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND endpoint_id = $2 AND due_at <= $3
  OFFSET ${String(ROWS_OF_A_PIECE - 1)} LIMIT 1`;

/**
 * The oldest first, from one that failed to the next; what failed after it was asked for is not meant, nor what another
 * transaction has changed in between (by ctid: ADR 58).
 */
const REPLAY = `
  WITH endpoint AS (
    SELECT replay_since AS since FROM webhook_endpoints
     WHERE organization_id = $1 AND id = $2 AND enabled AND deleted_at IS NULL AND replay_since IS NOT NULL
  ), piece AS (
    SELECT d.ctid, d.event_id, d.created_at FROM endpoint, webhook_deliveries d
     WHERE d.organization_id = $1 AND d.endpoint_id = $2 AND d.state = 'failed' AND d.payload IS NOT NULL
       AND d.created_at <= $4 AND (d.created_at, d.event_id) > (
         coalesce((SELECT last.created_at FROM webhook_deliveries last WHERE last.organization_id = $1
           AND last.endpoint_id = $2 AND last.event_id = $3), endpoint.since),
         coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
     ORDER BY d.created_at, d.event_id LIMIT ${String(ROWS_OF_A_PIECE)} FOR UPDATE OF d
  ), anew AS (
    UPDATE webhook_deliveries d SET state = 'pending', attempts = 0, due_at = $5, claim = NULL FROM piece
     WHERE d.organization_id = $1 AND d.ctid = piece.ctid
  )
  SELECT event_id FROM piece ORDER BY created_at, event_id`;

/** Tells an endpoint again what failed or what it missed since an instant, in pieces, however much that is. */
@Injectable()
export class ReplayedDeliveries {
  constructor(
    private readonly clock: Clock,
    private readonly signal: DeliverySignal,
    private readonly jobs: BackgroundJobs,
  ) {
    jobs.handle('replay_deliveries', (tx, job) => this.replayPiece(tx, job));
  }

  /** From the instant on that the endpoint's row says. */
  async replay(tx: Transaction, endpointId: string): Promise<void> {
    await this.jobs.add(tx, 'replay_deliveries', endpointId);
  }

  private async replayPiece(
    tx: WorkerTransaction,
    { target_id: endpointId, position, until }: Job,
  ): Promise<Piece> {
    const now = this.clock.now();
    const busy = await tx.query(IS_BUSY, [tx.organizationId, endpointId, now]);
    if (busy.length > 0) return { position, later: true };
    const rows = await tx.query<{ event_id: string }>(REPLAY, [
      tx.organizationId,
      endpointId,
      position,
      until,
      now,
    ]);
    tx.afterCommit(() => this.signal.raise());
    const last = rows.at(-1);
    return last && rows.length === ROWS_OF_A_PIECE ? { position: last.event_id } : 'done';
  }
}
