import type { NewDomainEvent } from '@customer-platform/event-bus';
import type { RunCounts } from './campaign.js';

/** What happens to a campaign as a whole; what happens to each message the sends' own events tell. */
export type CampaignVerb = 'started' | 'paused' | 'progress' | 'completed' | 'canceled';

/** Of which run, and where it stands. */
interface RunStanding {
  readonly organizationId: string;
  readonly campaignId: string;
  readonly runId: string;
  readonly counts: RunCounts;
  readonly correlationId: string;
}

/** The event. */
export function campaignEvent(verb: CampaignVerb, run: RunStanding, now: Date): NewDomainEvent {
  const { organizationId, campaignId, runId, counts, correlationId } = run;
  return {
    type: `messaging.campaign.${verb}.v1`,
    organizationId,
    key: campaignId,
    subject: `campaigns/${campaignId}`,
    correlationId,
    time: now.toISOString(),
    data: { campaign_id: campaignId, run_id: runId, counts: { ...counts } },
  };
}
