import { Injectable } from '@nestjs/common';
import type { WorkerTransaction } from '@customer-platform/database';
import { BackgroundJobs, type Job, type Piece } from '../../../background/jobs/background-jobs.js';

const MEMBERS_AT_ONCE = 5_000;

const RUNS = 'SELECT id FROM campaign_runs WHERE organization_id = $1 AND campaign_id = $2 ORDER BY id';

/** By ctid (ADR 58): one that another transaction changed in between is read again. */
const DROP_MEMBERS = `
  WITH piece AS (
    SELECT ctid FROM campaign_members WHERE organization_id = $1 AND run_id = $2
     ORDER BY organization_id, run_id, id LIMIT ${MEMBERS_AT_ONCE}
  ), dropped AS (
    DELETE FROM campaign_members m USING piece WHERE m.organization_id = $1 AND m.ctid = piece.ctid
  )
  SELECT count(*)::int AS count FROM piece`;

const DROP_REST = [
  'DELETE FROM campaign_count_changes WHERE organization_id = $1 AND run_id = $2',
  'DELETE FROM campaign_counts WHERE organization_id = $1 AND run_id = $2',
  'DELETE FROM campaign_runs WHERE organization_id = $1 AND id = $2',
];

/** Takes away, piece by piece, to whom a campaign went that was purged. The sends stay: they are what was done. */
@Injectable()
export class ForgottenRuns {
  constructor(jobs: BackgroundJobs) {
    jobs.handle('forget_campaign', (tx, job) => this.piece(tx, job));
  }

  private async piece(tx: WorkerTransaction, { target_id: campaignId }: Job): Promise<Piece> {
    const [run] = await tx.query<{ id: string }>(RUNS, [tx.organizationId, campaignId]);
    if (!run) return 'done';
    const place = [tx.organizationId, run.id];
    const [row] = await tx.query<{ count: number }>(DROP_MEMBERS, place);
    if (row?.count === 0) for (const statement of DROP_REST) await tx.query(statement, place);
    return { position: null };
  }
}
