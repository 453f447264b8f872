import { Injectable } from '@nestjs/common';
import { Clock, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import {
  BackgroundJobs,
  ROWS_OF_A_PIECE,
  type Job,
  type Piece,
} from '../../background/jobs/background-jobs.js';
import { DeliverySignal } from './delivery-signal.js';

/**
 * From one pending delivery to the next, in the order of their index; those that wait for a later try are due now. Up to
 * the last of the piece, without a join to it (ADR 58).
 */
const RESUME = `
  WITH piece AS (
    SELECT event_id FROM webhook_deliveries
     WHERE organization_id = $1 AND endpoint_id = $2 AND state = 'pending'
       AND event_id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY event_id LIMIT $4
  ), due AS (
    UPDATE webhook_deliveries SET due_at = $5
     WHERE organization_id = $1 AND endpoint_id = $2 AND state = 'pending'
       AND event_id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
       AND event_id <= (SELECT event_id FROM piece ORDER BY event_id DESC LIMIT 1)
       AND claim IS NULL AND (due_at IS NULL OR due_at > $5)
  )
  SELECT event_id FROM piece ORDER BY event_id`;

/** By ctid (ADR 58): one that another transaction changed in between is read again. */
const FORGET = `
  WITH piece AS (
    SELECT ctid FROM webhook_deliveries WHERE organization_id = $1 AND endpoint_id = $2
     ORDER BY event_id LIMIT $3 FOR UPDATE
  ), gone AS (
    DELETE FROM webhook_deliveries d USING piece WHERE d.organization_id = $1 AND d.ctid = piece.ctid
  )
  SELECT 1 FROM piece`;

/**
 * What becomes of the deliveries of an endpoint that is switched off, on again, or removed. While it is off nothing is
 * taken up (`DeliveryQueue`), so that its rows need no change, however many there are; a try under way ends as it ends.
 */
@Injectable()
export class PausedDeliveries {
  constructor(
    private readonly clock: Clock,
    private readonly signal: DeliverySignal,
    private readonly jobs: BackgroundJobs,
  ) {
    jobs.handle('resume_deliveries', (tx, job) => this.resumePiece(tx, job));
    jobs.handle('forget_deliveries', (tx, job) => this.forgetPiece(tx, job));
  }

  /** How long it has failed counts from anew. */
  async pause(tx: Transaction, endpointId: string): Promise<void> {
    await this.forgetFailures(tx, endpointId);
  }

  /** What waited is due; what was due already goes at once. */
  async resume(tx: Transaction, endpointId: string): Promise<void> {
    await this.forgetFailures(tx, endpointId);
    await this.jobs.add(tx, 'resume_deliveries', endpointId);
    tx.afterCommit(() => this.signal.raise());
  }

  /** The endpoint is going: so is everything about it. */
  async forget(tx: Transaction, endpointId: string): Promise<void> {
    await this.forgetFailures(tx, endpointId);
    await this.jobs.add(tx, 'forget_deliveries', endpointId);
  }

  private async resumePiece(tx: WorkerTransaction, { target_id: endpointId, position }: Job): Promise<Piece> {
    const rows = await tx.query<{ event_id: string }>(RESUME, [
      tx.organizationId,
      endpointId,
      position,
      ROWS_OF_A_PIECE,
      this.clock.now(),
    ]);
    tx.afterCommit(() => this.signal.raise());
    const last = rows.at(-1);
    return last && rows.length === ROWS_OF_A_PIECE ? { position: last.event_id } : 'done';
  }

  private async forgetPiece(tx: WorkerTransaction, { target_id: endpointId }: Job): Promise<Piece> {
    const rows = await tx.query(FORGET, [tx.organizationId, endpointId, ROWS_OF_A_PIECE]);
    return rows.length > 0 ? { position: null } : 'done';
  }

  private async forgetFailures(tx: Transaction, endpointId: string): Promise<void> {
    await tx.query('DELETE FROM webhook_failing_since WHERE organization_id = $1 AND endpoint_id = $2', [
      tx.organizationId,
      endpointId,
    ]);
  }
}
