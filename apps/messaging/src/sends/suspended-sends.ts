import { Injectable } from '@nestjs/common';
import { Clock, type WorkerTransaction } from '@customer-platform/database';
import { BackgroundJobs, ROWS_OF_A_PIECE, type Piece } from '../jobs/background-jobs.js';
import { DispatchSignal } from './dispatch-signal.js';

const SUSPENDED = `SELECT 1 FROM organizations WHERE organization_id = $1 AND status = 'suspended'`;

const RELEASE = `
  UPDATE sends SET due_at = $2, release_at = NULL
   WHERE organization_id = $1 AND id IN (
     SELECT id FROM sends WHERE organization_id = $1 AND state = 'held' AND reason = 'organization_suspended'
        AND due_at = 'infinity' ORDER BY id LIMIT $3 FOR UPDATE)
  RETURNING 1`;

/** Lets go on, piece by piece, what an organization that is active again has held. */
@Injectable()
export class SuspendedSends {
  constructor(
    private readonly signal: DispatchSignal,
    private readonly clock: Clock,
    jobs: BackgroundJobs,
  ) {
    jobs.handle('release_sends', (tx) => this.piece(tx));
  }

  private async piece(tx: WorkerTransaction): Promise<Piece> {
    // Suspended again: its next reactivation begins this anew.
    const suspended = await tx.query(SUSPENDED, [tx.organizationId]);
    if (suspended.length > 0) return 'done';
    const rows = await tx.query(RELEASE, [tx.organizationId, this.clock.now(), ROWS_OF_A_PIECE]);
    tx.afterCommit(() => this.signal.raise());
    return rows.length === ROWS_OF_A_PIECE ? { position: null } : 'done';
  }
}
