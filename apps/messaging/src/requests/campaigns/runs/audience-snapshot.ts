import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { Audiences } from '../audiences.js';
import { CampaignRuns } from './campaign-runs.js';
import { AGAIN, holds, type Next, type WorkedRun } from './worked-run.js';

const ADD = `
  INSERT INTO campaign_members (organization_id, run_id, contact_id, state)
  SELECT $1, $2, given.id, 'pending' FROM unnest($3::uuid[]) AS given (id)
  ON CONFLICT (organization_id, contact_id, run_id) DO NOTHING`;

const MOVE = `
  UPDATE campaign_runs SET state = $3, after_at = $4, after_id = $5 WHERE organization_id = $1 AND id = $2`;

/**
 * Writes down to whom a run goes, page by page: who was in the audience when the run began and still is when its page
 * is read. A page and the place of the next are one transaction: whoever dies leaves it to others, who read the page
 * again.
 */
@Injectable()
export class AudienceSnapshot {
  constructor(
    private readonly database: Database,
    private readonly audiences: Audiences,
    private readonly runs: CampaignRuns,
  ) {}

  /** One page. @throws Problem `dependency_unavailable` */
  async piece(run: WorkedRun): Promise<Next> {
    const { organizationId, audience, startedAt, after } = run;
    const place = after.at && after.id ? { at: after.at.toISOString(), id: after.id } : undefined;
    const until = startedAt.toISOString();
    const page = await this.audiences.members(organizationId, audience, { until, after: place });
    return this.database.acrossOrganizations(async (tx): Promise<Next> => {
      await tx.useOrganization(organizationId);
      if (!(await holds(tx, run))) return AGAIN;
      if (!page) {
        await this.runs.cancel(tx, { campaignId: run.campaignId, runId: run.id }, 'audience_deleted');
        return AGAIN;
      }
      const { contactIds, next } = page;
      if (contactIds.length > 0) await tx.prepared(ADD, [organizationId, run.id, contactIds]);
      const state = next ? 'gathering' : 'running';
      await tx.query(MOVE, [organizationId, run.id, state, next?.at ?? null, next?.id ?? null]);
      return AGAIN;
    });
  }
}
