import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { Category, Recipient, SendFacts, SendPayload } from '../../vocabulary/sends/send.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';

/** A send in the hands of one dispatcher. */
export interface ClaimedSend extends SendFacts, SendPayload {
  /** Of the dispatcher's hold on it: what has another one has been taken over. */
  readonly claim: string;
  /** Where it stood before it was claimed. */
  readonly previous: SendState;
  readonly recipient: Recipient;
  /** Where it went at the last attempt. */
  readonly address: string | null;
  readonly sender: string | null;
  /** In which it waited. */
  readonly lane: number;
  /** The rule or campaign it is of, if any. */
  readonly sourceId: string | null;
  /** Of the campaign. */
  readonly runId: string | null;
  readonly templateId: string | null;
  readonly templateVersion: number | null;
  readonly locale: string | null;
  readonly providerMessageId: string | null;
  readonly attempts: number;
  readonly capCounted: boolean;
  readonly createdAt: Date;
  /** Since when it waits for a word of core's or identity's without which it cannot be addressed. */
  readonly waitingSince: Date | null;
  readonly expiresAt: Date | null;
}

/** Columns of {@link ClaimedRow}. */
export const CLAIMED_COLUMNS = `s.organization_id, s.id, s.channel, s.category, s.topic, s.contact_id, s.recipient,
  s.address, s.sender, s.lane, s.source_id, s.run_id, s.template_id, s.template_version, s.locale, s.provider_message_id, s.attempts, s.cap_counted, s.metadata,
  s.correlation_id, s.event_id, s.created_at, s.waiting_since, s.expires_at, s.claim`;

/** A claimed row of `sends` with its payload. */
export interface ClaimedRow {
  organization_id: string;
  id: string;
  channel: Channel;
  category: Category;
  topic: string | null;
  contact_id: string | null;
  recipient: Recipient;
  address: string | null;
  sender: string | null;
  lane: number;
  source_id: string | null;
  run_id: string | null;
  template_id: string | null;
  template_version: number | null;
  locale: string | null;
  provider_message_id: string | null;
  attempts: number;
  cap_counted: boolean;
  metadata: Record<string, unknown> | null;
  correlation_id: string | null;
  event_id: string | null;
  created_at: Date;
  waiting_since: Date | null;
  expires_at: Date | null;
  claim: string;
  previous: SendState;
  data: Record<string, unknown> | null;
  event: Record<string, unknown> | null;
  content: ClaimedSend['content'];
  withholds_contact: boolean | null;
}

/** The send a row stands for. */
export function toClaimedSend(row: ClaimedRow): ClaimedSend {
  return {
    organizationId: row.organization_id,
    id: row.id,
    channel: row.channel,
    category: row.category,
    topic: row.topic,
    contactId: row.contact_id,
    recipient: row.recipient,
    address: row.address,
    sender: row.sender,
    lane: row.lane,
    sourceId: row.source_id,
    runId: row.run_id,
    campaignId: row.run_id === null ? null : row.source_id,
    templateId: row.template_id,
    templateVersion: row.template_version,
    locale: row.locale,
    providerMessageId: row.provider_message_id,
    attempts: row.attempts,
    capCounted: row.cap_counted,
    metadata: row.metadata,
    correlationId: row.correlation_id,
    eventId: row.event_id,
    createdAt: row.created_at,
    waitingSince: row.waiting_since,
    expiresAt: row.expires_at,
    claim: row.claim,
    previous: row.previous,
    data: row.data ?? {},
    event: row.event,
    content: row.content,
    withholdsContact: row.withholds_contact === true,
  };
}
