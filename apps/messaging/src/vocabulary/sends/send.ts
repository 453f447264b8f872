import type { Channel } from '../addresses/channel.js';
import type { LinkRef } from './link-ref.js';
import type { PartSource } from '../rendering/render-job.js';
import type { SendState } from './send-state.js';

/** Transactional messages are what a person did something for; marketing needs their consent and respects their hours. */
export type Category = 'transactional' | 'marketing';

/** How the address of a send is found: again at every attempt, so that a corrected one is used. */
export type Recipient =
  | { readonly contact_id: string }
  | { readonly external_id: string }
  | { readonly address: string }
  /** Identity says where it goes, and what nobody else may read: the link is never stored. */
  | { readonly link: LinkRef };

/** Whom a caller can name: what identity alone can address comes by its events. */
export type NamedRecipient = Exclude<Recipient, { readonly link: LinkRef }>;

/** Dispatchers take the first lane first. */
export const LANES: Readonly<Record<Category, number>> = { transactional: 0, marketing: 1 };

/** Identity's mail has dispatchers of its own, which take nothing else (messaging.md §3). */
export const IDENTITY_LANE = 2;

/** So have campaigns: of whatever category, nobody else's message stands behind them (messaging.md §9). */
export const CAMPAIGN_LANE = 3;

/** In which lane a send waits. */
export function laneOf({ source, category }: Pick<NewSend, 'source' | 'category'>): number {
  if (source === 'identity') return IDENTITY_LANE;
  return source === 'campaign' ? CAMPAIGN_LANE : LANES[category];
}

/** What a send's steps and events tell of it. */
export interface SendFacts {
  readonly organizationId: string;
  readonly id: string;
  readonly contactId: string | null;
  readonly channel: Channel;
  readonly category: Category;
  readonly topic: string | null;
  readonly metadata: Record<string, unknown> | null;
  readonly correlationId: string | null;
  /** The domain event that led to it. */
  readonly eventId: string | null;
  /** The campaign it is of. */
  readonly campaignId: string | null;
}

/** What a send is made of until it is final. */
export interface SendPayload {
  readonly data: Readonly<Record<string, unknown>>;
  readonly event: Record<string, unknown> | null;
  /** Compiled parts of a send without template. */
  readonly content: readonly PartSource[] | null;
  /** Neither who asked for it nor who published its text could read contacts: the text may not either. */
  readonly withholdsContact?: boolean;
}

/** What led to a send. */
export const SEND_SOURCES = ['api', 'routing', 'campaign', 'identity'] as const;

/** What led to a send: of `identity`, an event that only the platform's own mail answers. */
type SendSource = (typeof SEND_SOURCES)[number];

/** A send to be stored. */
export interface NewSend extends SendFacts, SendPayload {
  readonly state: SendState;
  readonly reason: string | null;
  readonly recipient: Recipient;
  readonly address: string | null;
  readonly addressKey: string | null;
  readonly sender: string | null;
  /** Of mail: from where it is to leave, as far as that is known. */
  readonly senderDomain?: string | null;
  readonly templateId: string | null;
  readonly templateVersion: number | null;
  readonly locale: string | null;
  readonly source: SendSource;
  readonly sourceId: string | null;
  /** Of a campaign. */
  readonly runId: string | null;
  readonly dueAt: Date | null;
  readonly expiresAt: Date | null;
}
