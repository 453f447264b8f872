import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, isDatabaseUnavailable, ranOut } from '@customer-platform/database';
import {
  FailingTurns,
  ItemBackoff,
  LatestTurns,
  log,
  PollingJob,
  type TurnOwner,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../../vocabulary/config/messaging.config.js';
import { Tenants } from '../../../background/organizations/tenants.js';
import { AudienceSnapshot } from './audience-snapshot.js';
import { CampaignRuns } from './campaign-runs.js';
import { AudienceDispatch } from './audience-dispatch.js';
import { RunEnding } from './ending.js';
import { RunSignal } from './run-signal.js';
import { TAKEN_COLUMNS, toWorkedRun, type Next, type TakenRow, type WorkedRun } from './worked-run.js';

type Turn = Pick<TakenRow, 'organization_id' | 'id'>;

const JOB = 'campaign-runs';
const EVERY_MS = 250;
/** A process that says nothing for so long has died: others take its run over. */
const CLAIM_MS = 20_000;
const PROGRESS_MS = 10_000;
/** Where another module is silent. */
const PATIENCE_MS = 2_000;
/** A run that rests, and one whose organization does. */
const RESTING_MS = 60_000;
const SUSPENDED_MS = 10_000;

/** First those that were longest without a piece: their turn is next where nothing is known of any. */
const OWNERS = `
  SELECT organization_id AS id FROM campaign_runs
   WHERE due_at <= $1 AND id <> ALL($2::uuid[]) AND organization_id <> ALL($3::uuid[])
   GROUP BY organization_id ORDER BY min(worked_at), organization_id`;

/** The run that was longest without a piece, of the first of these organizations that has one which is free. */
const NEXT = `
  SELECT run.organization_id, run.id
    FROM unnest($3::uuid[]) WITH ORDINALITY AS owner (organization_id, turn)
    JOIN campaign_runs AS run ON run.organization_id = owner.organization_id
   WHERE run.due_at <= $1 AND run.id <> ALL($2::uuid[])
   ORDER BY owner.turn, run.worked_at, run.id LIMIT 1 FOR UPDATE OF run SKIP LOCKED`;

const TAKE = `
  UPDATE campaign_runs r SET claim = $3, due_at = $4, worked_at = clock_timestamp()
   WHERE organization_id = $1 AND id = $2
  RETURNING ${TAKEN_COLUMNS}`;

/** Not what was paused, canceled or taken over meanwhile. */
const RELEASE = `
  UPDATE campaign_runs SET claim = NULL, due_at = $4 WHERE organization_id = $1 AND id = $2 AND claim = $3`;

const TOLD = `
  UPDATE campaign_runs SET told_at = $4 WHERE organization_id = $1 AND id = $2 AND claim = $3 RETURNING 1`;

const SUSPENDED = `SELECT 1 FROM organizations WHERE organization_id = $1 AND status = 'suspended'`;

/**
 * Brings runs forward, one piece of one run after the other: gather the audience → hand it over → wait for what came of
 * it. A run is a row that one process holds for a piece; one that dies leaves it to the others.
 */
@Injectable()
export class RunWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job = new PollingJob({
    name: JOB,
    takes: 'rows of campaign_runs',
    everyMs: EVERY_MS,
    pass: () => this.runAll(),
  });

  private readonly backoff: ItemBackoff;
  private readonly failing = new FailingTurns();
  /** Tenants take turns, and in a tenant its organizations. */
  private readonly latest = new LatestTurns();

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly gathering: AudienceSnapshot,
    private readonly handingOver: AudienceDispatch,
    private readonly ending: RunEnding,
    private readonly runs: CampaignRuns,
    private readonly signal: RunSignal,
    private readonly clock: Clock,
    private readonly tenants: Tenants,
  ) {
    this.backoff = new ItemBackoff(JOB, clock);
  }

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.signal.listen(() => this.job.wake());
    this.job.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  private runAll(): Promise<boolean> {
    return this.job.drain(() => this.piece());
  }

  /** Does one piece of one run. @returns whether there was one */
  async piece(): Promise<boolean> {
    let turn: Turn | undefined;
    const work = async (): Promise<void> => {
      const run = await this.take((next) => (turn = next));
      if (run) await this.bringOn(run);
    };
    try {
      await this.failing.note(() => turn?.organization_id, work);
      if (turn) this.backoff.passed(turn.id);
    } catch (error) {
      // Where it was taken it stays claimed for a while. It holds up no other run, be it that it cannot even be taken.
      if (turn) this.backoff.failed(turn.id, error);
      if (!turn || (isDatabaseUnavailable(error) && !ranOut(error))) throw error;
    }
    return turn !== undefined;
  }

  private async bringOn(run: WorkedRun): Promise<void> {
    try {
      await this.tellProgress(run);
      await this.release(run, await this.advance(run));
    } catch (error) {
      if (isDatabaseUnavailable(error) || !(error instanceof Problem) || error.status !== 503) throw error;
      log.warn({ err: error, run: run.id }, 'A campaign waits for another module');
      await this.release(run, { inMs: PATIENCE_MS });
    }
  }

  private async advance(run: WorkedRun): Promise<Next> {
    if (run.state === 'canceled') return this.ending.callOff(run);
    if (run.state === 'gathering') return this.gathering.piece(run);
    if (run.paused) return { inMs: RESTING_MS };
    if (await this.isSuspended(run)) return { inMs: SUSPENDED_MS };
    await this.ending.letGo(run);
    return (await this.handingOver.piece(run)) ?? this.ending.complete(run);
  }

  /** @param found hears whose turn it is, before anything of it is changed */
  private async take(found: (turn: Turn | undefined) => void): Promise<WorkedRun | undefined> {
    const waiting = this.backoff.waiting();
    const resting = this.failing.resting();
    return this.database.acrossOrganizations(async (tx) => {
      const now = this.clock.now();
      const next = async (after: readonly string[]): Promise<Turn | undefined> => {
        const owners = await tx.query<{ id: string }>(OWNERS, [now, waiting, after]);
        const inOrder = this.latest.inOrder(owners.map(({ id }) => this.ownerOf(id)));
        const ids = inOrder.map(({ organizationId }) => organizationId);
        return ids.length === 0 ? undefined : (await tx.query<Turn>(NEXT, [now, waiting, ids]))[0];
      };
      const turn = (await next(resting)) ?? (resting.length > 0 ? await next([]) : undefined);
      if (turn) this.latest.had(this.ownerOf(turn.organization_id));
      found(turn);
      if (!turn) return undefined;
      const until = new Date(now.getTime() + CLAIM_MS);
      const [row] = await tx.query<TakenRow>(TAKE, [turn.organization_id, turn.id, randomUUID(), until]);
      return row && toWorkedRun(row);
    });
  }

  private ownerOf(organizationId: string): TurnOwner {
    return { tenant: this.tenants.of(organizationId), organizationId };
  }

  private async release({ organizationId, id, claim }: WorkedRun, next: Next): Promise<void> {
    const due = next === 'done' ? null : new Date(this.clock.now().getTime() + next.inMs);
    await this.database.acrossOrganizations((tx) => tx.query(RELEASE, [organizationId, id, claim, due]));
  }

  private async tellProgress(run: WorkedRun): Promise<void> {
    const { organizationId, id, claim, campaignId, correlationId, toldAt } = run;
    const now = this.clock.now();
    if (run.paused || run.state === 'canceled' || now.getTime() - toldAt.getTime() < PROGRESS_MS) return;
    await this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const told = await tx.query(TOLD, [organizationId, id, claim, now]);
      if (told.length > 0)
        await this.runs.tell(tx, 'progress', { campaignId, runId: id }, correlationId, now);
    });
  }

  private isSuspended({ organizationId }: WorkedRun): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      const rows = await tx.query(SUSPENDED, [organizationId]);
      return rows.length > 0;
    });
  }
}
