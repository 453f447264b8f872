import { Injectable } from '@nestjs/common';
import { Clock, type WorkerTransaction } from '@customer-platform/database';
import {
  BackgroundJobs,
  ROWS_OF_A_PIECE,
  type Job,
  type Piece,
} from '../../background/jobs/background-jobs.js';
import { DispatchSignal } from '../../dispatch/sends/dispatch-signal.js';

const SUSPENDED = `SELECT 1 FROM organizations WHERE organization_id = $1 AND status = 'suspended'`;

/** By ctid (ADR 58). */
const RELEASE = `
  WITH piece AS (
    SELECT ctid, id FROM sends WHERE organization_id = $1 AND state = 'held' AND reason = 'organization_suspended'
       AND due_at = 'infinity' AND id > coalesce($4::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY id LIMIT $3 FOR UPDATE
  ), released AS (
    UPDATE sends s SET due_at = $2, release_at = NULL FROM piece
     WHERE s.organization_id = $1 AND s.ctid = piece.ctid RETURNING s.id
  )
  SELECT piece.id, released.id IS NOT NULL AS released FROM piece LEFT JOIN released USING (id) ORDER BY piece.id`;

/** Lets go on, piece by piece, what an organization that is active again has held. */
@Injectable()
export class SuspendedSends {
  constructor(
    private readonly signal: DispatchSignal,
    private readonly clock: Clock,
    jobs: BackgroundJobs,
  ) {
    jobs.handle('release_sends', (tx, job) => this.piece(tx, job));
  }

  private async piece(tx: WorkerTransaction, { position }: Job): Promise<Piece> {
    // Suspended again: its next reactivation begins this anew.
    const suspended = await tx.query(SUSPENDED, [tx.organizationId]);
    if (suspended.length > 0) return 'done';
    const given = [tx.organizationId, this.clock.now(), ROWS_OF_A_PIECE, position];
    const rows = await tx.query<{ id: string; released: boolean }>(RELEASE, given);
    tx.afterCommit(() => this.signal.raise());
    // What another transaction changed in between is read again.
    if (rows.some(({ released }) => !released)) return { position };
    const last = rows.at(-1);
    // From there on: what was let go is still held until it is dispatched, and would be read again by every piece.
    return last && rows.length === ROWS_OF_A_PIECE ? { position: last.id } : 'done';
  }
}
