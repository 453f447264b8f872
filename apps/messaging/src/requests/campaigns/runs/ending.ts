import { Injectable } from '@nestjs/common';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import { DispatchSignal } from '../../../dispatch/sends/dispatch-signal.js';
import { RESTING_REASON } from '../../../vocabulary/sends/canceled-sends.js';
import { CAMPAIGN_LANE } from '../../../vocabulary/sends/send.js';
import { SendsRepository } from '../../../dispatch/sends/sends.repository.js';
import { CampaignRuns } from './campaign-runs.js';
import { AGAIN, holds, type Next, type WorkedRun } from './worked-run.js';

const MEMBERS_AT_ONCE = 5_000;
const SENDS_AT_ONCE = 500;
/** What others have in their hands at the moment is looked for again. */
const LOOK_AGAIN_MS = 500;

/** By ctid (ADR 58): one that another transaction changed in between is read again. */
const SKIP = `
  WITH piece AS (
    SELECT ctid FROM campaign_members WHERE organization_id = $1 AND run_id = $2 AND state = 'pending'
     ORDER BY organization_id, run_id, id LIMIT ${MEMBERS_AT_ONCE} FOR UPDATE
  ), skipped AS (
    UPDATE campaign_members m SET state = 'skipped', reason = 'campaign_canceled'
      FROM piece WHERE m.organization_id = $1 AND m.ctid = piece.ctid
  )
  SELECT count(*)::int AS count FROM piece`;

/** In the order of the index of what is unfinished, which the planner passes over otherwise. */
const UNFINISHED = `
  SELECT 1 FROM sends WHERE organization_id = $1 AND source_id >= $2 AND source_id <= $2 AND due_at IS NOT NULL
     AND run_id = $3 AND state NOT IN ('bounced', 'complained')
   ORDER BY source_id, id LIMIT 1`;

const REMEMBER = 'UPDATE campaign_runs SET after_id = $3 WHERE organization_id = $1 AND id = $2';

/** By the index of what is due: what rests is due at no time. */
const LET_GO = `
  WITH piece AS (
    SELECT ctid FROM sends WHERE organization_id = $1 AND channel = $2 AND lane = ${CAMPAIGN_LANE}
       AND due_at = 'infinity' AND run_id = $3 AND state = 'held' AND reason = '${RESTING_REASON}'
     LIMIT ${SENDS_AT_ONCE} FOR UPDATE
  )
  UPDATE sends s SET due_at = $4 FROM piece WHERE s.organization_id = $1 AND s.ctid = piece.ctid RETURNING s.id`;

/** What is left of a run at its ends: when it is canceled, when it has rested, and when nothing is left. */
@Injectable()
export class RunEnding {
  constructor(
    private readonly database: Database,
    private readonly sends: SendsRepository,
    private readonly runs: CampaignRuns,
    private readonly signal: DispatchSignal,
    private readonly clock: Clock,
  ) {}

  /** Calls off some of what a canceled run has waiting; none of it leaves meanwhile, for the gate looks at the run. */
  async callOff(run: WorkedRun): Promise<Next> {
    const { organizationId, campaignId, id } = run;
    return this.within(run, async (tx): Promise<Next> => {
      const [row] = await tx.query<{ count: number }>(SKIP, [organizationId, id]);
      if (row?.count !== 0) return AGAIN;
      const canceled = await this.sends.cancelSomeOfSource(
        tx,
        { sourceId: campaignId, before: null, after: run.after.id, most: SENDS_AT_ONCE },
        'campaign_canceled',
        this.clock.now(),
      );
      await tx.query(REMEMBER, [organizationId, id, canceled.at(-1) ?? null]);
      // One that another transaction changed in between is none of them: only a piece of none is the last.
      if (canceled.length > 0) return AGAIN;
      return (await this.isFinished(tx, run)) ? 'done' : { inMs: LOOK_AGAIN_MS };
    });
  }

  /** Lets go on some of what was held while the campaign rested. @returns whether there was anything */
  async letGo(run: WorkedRun): Promise<boolean> {
    const { organizationId, channel, id } = run;
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      if (!(await holds(tx, run))) return false;
      const rows = await tx.query(LET_GO, [organizationId, channel, id, this.clock.now()]);
      if (rows.length > 0) tx.afterCommit(() => this.signal.raise('campaign'));
      return rows.length > 0;
    });
  }

  /** Ends a run whose audience is handed over, if all that came of it has ended. */
  async complete(run: WorkedRun): Promise<Next> {
    return this.within(run, async (tx): Promise<Next> => {
      if (!(await this.isFinished(tx, run))) return { inMs: LOOK_AGAIN_MS };
      await this.runs.complete(tx, { campaignId: run.campaignId, runId: run.id });
      return 'done';
    });
  }

  private async isFinished(
    tx: WorkerTransaction,
    { organizationId, campaignId, id }: WorkedRun,
  ): Promise<boolean> {
    const left = await tx.query(UNFINISHED, [organizationId, campaignId, id]);
    return left.length === 0;
  }

  private within(run: WorkedRun, work: (tx: WorkerTransaction) => Promise<Next>): Promise<Next> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(run.organizationId);
      return (await holds(tx, run)) ? work(tx) : AGAIN;
    });
  }
}
