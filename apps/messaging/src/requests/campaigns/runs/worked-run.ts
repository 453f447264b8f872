import type { WorkerTransaction } from '@customer-platform/database';
import type { Channel } from '../../../vocabulary/addresses/channel.js';
import type { Category } from '../../../vocabulary/sends/send.js';
import type { CampaignAudience } from '../campaign.js';

/** A run in the hands of one process. */
export interface WorkedRun {
  readonly organizationId: string;
  readonly id: string;
  readonly campaignId: string;
  readonly claim: string;
  readonly state: 'gathering' | 'running' | 'canceled';
  readonly paused: boolean;
  readonly channel: Channel;
  readonly category: Category;
  readonly topic: string | null;
  readonly templateId: string;
  readonly templateVersion: number;
  readonly audience: CampaignAudience;
  readonly correlationId: string;
  readonly after: { readonly at: Date | null; readonly id: string | null };
  readonly startedAt: Date;
  readonly toldAt: Date;
}

/** When a run is looked at next: so many milliseconds from now; `done`: never again. */
export type Next = { readonly inMs: number } | 'done';

/** At once. */
export const AGAIN: Next = { inMs: 0 };

const HOLD = `
  SELECT 1 FROM campaign_runs WHERE organization_id = $1 AND id = $2 AND claim = $3 AND state = $4 AND paused = $5
     FOR UPDATE`;

/**
 * Locks the run until the transaction ends, as it was when it was taken.
 * @returns false where it has been paused, canceled or taken over since
 */
export async function holds(tx: WorkerTransaction, run: WorkedRun): Promise<boolean> {
  const { organizationId, id, claim, state, paused } = run;
  const rows = await tx.prepared(HOLD, [organizationId, id, claim, state, paused]);
  return rows.length > 0;
}

/** A row of `campaign_runs`, as it is taken. */
export interface TakenRow {
  organization_id: string;
  id: string;
  campaign_id: string;
  claim: string;
  state: WorkedRun['state'];
  paused: boolean;
  channel: Channel;
  category: Category;
  topic: string | null;
  template_id: string;
  template_version: number;
  audience_type: CampaignAudience['type'];
  audience_id: string;
  correlation_id: string;
  after_at: Date | null;
  after_id: string | null;
  started_at: Date;
  told_at: Date;
}

/** Columns of {@link TakenRow}. */
export const TAKEN_COLUMNS = `r.organization_id, r.id, r.campaign_id, r.claim, r.state, r.paused, r.channel, r.category,
  r.topic, r.template_id, r.template_version, r.audience_type, r.audience_id, r.correlation_id, r.after_at, r.after_id,
  r.started_at, r.told_at`;

/** The run a row stands for. */
export function toWorkedRun(row: TakenRow): WorkedRun {
  return {
    organizationId: row.organization_id,
    id: row.id,
    campaignId: row.campaign_id,
    claim: row.claim,
    state: row.state,
    paused: row.paused,
    channel: row.channel,
    category: row.category,
    topic: row.topic,
    templateId: row.template_id,
    templateVersion: row.template_version,
    audience: { type: row.audience_type, id: row.audience_id },
    correlationId: row.correlation_id,
    after: { at: row.after_at, id: row.after_id },
    startedAt: row.started_at,
    toldAt: row.told_at,
  };
}
