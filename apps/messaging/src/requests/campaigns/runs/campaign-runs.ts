import { Injectable } from '@nestjs/common';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { BackgroundJobs } from '../../../background/jobs/background-jobs.js';
import { campaignEvent, type CampaignVerb } from '../campaign-event.js';
import type { CampaignEntity } from '../campaign.entity.js';
import type { RunRow } from '../campaign.js';
import { CampaignCounts } from './campaign-counts.js';
import { RunSignal } from './run-signal.js';

const BEGIN = `
  INSERT INTO campaign_runs (organization_id, id, campaign_id, state, paused, channel, template_id, template_version,
    audience_type, audience_id, category, topic, data, correlation_id, due_at, told_at, started_at)
  SELECT organization_id, $3, id, 'gathering', paused, channel, template_id, $4,
         audience_type, audience_id, category, topic, data, $5, $6, $6, $6
    FROM campaigns WHERE organization_id = $1 AND id = $2`;

/** `updated_at` grows with every change, as the resource's own writes have it. */
const FOLLOW = `
  UPDATE campaigns SET state = $3, run_id = coalesce($4, run_id),
         updated_at = greatest($5::timestamptz, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2 AND state <> $3`;

const SHOWN = `
  SELECT id, state, paused, reason, template_version, started_at, finished_at FROM campaign_runs
   WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

const UNDER_WAY = `state IN ('gathering', 'running')`;

const REST = `
  UPDATE campaign_runs SET paused = $3, due_at = $4, claim = NULL
   WHERE organization_id = $1 AND id = $2 AND ${UNDER_WAY} RETURNING correlation_id`;

const CANCEL = `
  UPDATE campaign_runs SET state = 'canceled', reason = $3, finished_at = $4, due_at = $4, claim = NULL
   WHERE organization_id = $1 AND id = $2 AND ${UNDER_WAY} RETURNING correlation_id`;

const COMPLETE = `
  UPDATE campaign_runs SET state = 'completed', finished_at = $3, due_at = NULL, claim = NULL
   WHERE organization_id = $1 AND id = $2 AND state = 'running' RETURNING correlation_id`;

/** Which run of which campaign. */
interface RunOfCampaign {
  readonly campaignId: string;
  readonly runId: string;
}

/** How runs begin, rest and end: the campaign's state, the run's and the event are one transaction. */
@Injectable()
export class CampaignRuns {
  constructor(
    private readonly counts: CampaignCounts,
    private readonly outbox: Outbox,
    private readonly signal: RunSignal,
    private readonly jobs: BackgroundJobs,
    private readonly clock: Clock,
  ) {}

  /** Runs of the transaction's organization, by their ids. */
  async shown(tx: Transaction, runIds: readonly string[]): Promise<Map<string, RunRow>> {
    if (runIds.length === 0) return new Map();
    const rows = await tx.query<RunRow>(SHOWN, [tx.organizationId, runIds]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Begins a run of a campaign whose row is locked. @returns its id */
  async begin(
    tx: Transaction,
    { id: campaignId, paused }: CampaignEntity,
    { templateVersion, correlationId }: { templateVersion: number; correlationId: string },
  ): Promise<string> {
    const { organizationId } = tx;
    const now = this.clock.now();
    const runId = newId();
    await tx.query(BEGIN, [organizationId, campaignId, runId, templateVersion, correlationId, now]);
    await tx.query(FOLLOW, [organizationId, campaignId, paused ? 'paused' : 'running', runId, now]);
    await this.tell(tx, 'started', { campaignId, runId }, correlationId, now);
    tx.afterCommit(() => this.signal.raise());
    return runId;
  }

  /** Lets a run rest or go on, with its campaign's own change. */
  async rest(tx: Transaction, run: RunOfCampaign, paused: boolean): Promise<void> {
    const now = this.clock.now();
    const [row] = await tx.query<{ correlation_id: string }>(REST, [
      tx.organizationId,
      run.runId,
      paused,
      now,
    ]);
    if (!row) return;
    if (paused) await this.tell(tx, 'paused', run, row.correlation_id, now);
    else tx.afterCommit(() => this.signal.raise());
  }

  /** Calls off what has not left; the rows follow in pieces, and none of them leaves meanwhile. */
  async cancel(tx: Transaction, run: RunOfCampaign, reason: string): Promise<void> {
    await this.end(tx, run, { statement: CANCEL, values: [reason], verb: 'canceled' });
  }

  /** Ends a run of which nothing is left. */
  async complete(tx: Transaction, run: RunOfCampaign): Promise<void> {
    await this.end(tx, run, { statement: COMPLETE, values: [], verb: 'completed' });
  }

  /** Takes away what is kept of a campaign's runs, in pieces behind its purge. */
  forget(tx: Transaction, campaignId: string): Promise<void> {
    return this.jobs.add(tx, 'forget_campaign', campaignId);
  }

  /** Publishes what has happened, with the counts as they stand in the transaction. */
  async tell(
    tx: Transaction,
    verb: CampaignVerb,
    { campaignId, runId }: RunOfCampaign,
    correlationId: string,
    now: Date,
  ): Promise<void> {
    const counted = (await this.counts.of(tx, [runId])).get(runId);
    if (!counted) return;
    const { organizationId } = tx;
    const { counts } = counted;
    await this.outbox.append(tx, [
      campaignEvent(verb, { organizationId, campaignId, runId, counts, correlationId }, now),
    ]);
  }

  private async end(
    tx: Transaction,
    run: RunOfCampaign,
    { statement, values, verb }: { statement: string; values: unknown[]; verb: 'canceled' | 'completed' },
  ): Promise<void> {
    const now = this.clock.now();
    const { organizationId } = tx;
    const [row] = await tx.query<{ correlation_id: string }>(statement, [
      organizationId,
      run.runId,
      ...values,
      now,
    ]);
    if (!row) return;
    await tx.query(FOLLOW, [organizationId, run.campaignId, verb, null, now]);
    await this.tell(tx, verb, run, row.correlation_id, now);
    tx.afterCommit(() => this.signal.raise());
  }
}
