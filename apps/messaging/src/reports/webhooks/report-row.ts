import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { Category, SendFacts } from '../../vocabulary/sends/send.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';
import type { ReportedEvent } from '../../providers/report.js';

/** Stands for the organization of reports in the platform's account: their sends may be anybody's. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Where a report is stored. */
export interface ReportKey {
  readonly organization_id: string;
  readonly provider: string;
  readonly provider_message_id: string;
  readonly event_key: string;
}

/** A report that has not been applied, with the send it is about as far as that is known. */
export interface PendingReport extends ReportKey {
  readonly event: ReportedEvent;
  readonly provider_event_id: string | null;
  readonly bounce_type: 'hard' | 'soft' | null;
  readonly occurred_at: Date;
  readonly s_organization_id: string | null;
  readonly s_id: string | null;
  readonly s_state: SendState;
  readonly s_channel: Channel;
  readonly s_category: Category;
  readonly s_topic: string | null;
  readonly s_contact_id: string | null;
  readonly s_metadata: Record<string, unknown> | null;
  readonly s_correlation_id: string | null;
  readonly s_event_id: string | null;
  readonly s_campaign_id: string | null;
  readonly s_attempts: number;
  readonly s_address: string | null;
  readonly s_address_key: string | null;
}

/** A report whose send is known. */
export interface MatchedReport extends PendingReport {
  readonly s_organization_id: string;
  readonly s_id: string;
}

/** Whether the send of a report is known. */
export function isMatched(report: PendingReport): report is MatchedReport {
  return report.s_id !== null && report.s_organization_id !== null;
}

/** What the steps of its send tell of it. */
export function factsOf(report: MatchedReport): SendFacts {
  return {
    organizationId: report.s_organization_id,
    id: report.s_id,
    contactId: report.s_contact_id,
    channel: report.s_channel,
    category: report.s_category,
    topic: report.s_topic,
    metadata: report.s_metadata,
    correlationId: report.s_correlation_id,
    eventId: report.s_event_id,
    campaignId: report.s_campaign_id,
  };
}
