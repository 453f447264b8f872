import { Injectable } from '@nestjs/common';
import { Clock, type WorkerTransaction } from '@customer-platform/database';
import {
  BackgroundJobs,
  ROWS_OF_A_PIECE,
  type Job,
  type Piece,
} from '../../background/jobs/background-jobs.js';
import { SendsRepository } from '../../dispatch/sends/sends.repository.js';

const LIVE = `
  SELECT 1 FROM event_routing WHERE organization_id = $1 AND id = $2 AND enabled AND deleted_at IS NULL`;

/** In the order of the index of what is unfinished: without it the planner reads the whole table where nothing is left. */
const LEFT = `
  SELECT 1 FROM sends WHERE organization_id = $1 AND source_id >= $2 AND source_id <= $2 AND due_at IS NOT NULL
     AND state NOT IN ('bounced', 'complained') AND ($3::timestamptz IS NULL OR created_at <= $3)
   ORDER BY source_id, id LIMIT 1`;

/**
 * Calls off, piece by piece, what a rule that was disabled or deleted has waiting. None of it leaves meanwhile: the
 * gate looks at the rule and at this job (`isCanceled`). What a rule that is on again has led to since is its own.
 */
@Injectable()
export class RuleCancellation {
  constructor(
    private readonly sends: SendsRepository,
    private readonly clock: Clock,
    jobs: BackgroundJobs,
  ) {
    jobs.handle('cancel_sends_of_rule', (tx, job) => this.piece(tx, job));
  }

  private async piece(tx: WorkerTransaction, { target_id: ruleId, until, position }: Job): Promise<Piece> {
    const [live] = await tx.query(LIVE, [tx.organizationId, ruleId]);
    const before = live ? until : null;
    const canceled = await this.sends.cancelSomeOfSource(
      tx,
      { sourceId: ruleId, before, after: position, most: ROWS_OF_A_PIECE },
      'rule_disabled',
      this.clock.now(),
    );
    // One that another transaction changed in between is none of them: only a piece of none is the last.
    if (canceled.length > 0) return { position: canceled.at(-1) ?? null };
    // What others had in their hands was passed over: it is looked for from the beginning.
    const left = await tx.query(LEFT, [tx.organizationId, ruleId, before]);
    return left.length > 0 ? 'later' : 'done';
  }
}
