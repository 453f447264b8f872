import type { Channel } from '../addresses/channel.js';
import type { LocaleParts } from '../templates/template-content.js';
import type { LinkRef } from '../identity-messages/identity-links.js';
import type { PartSource } from '../rendering/render-job.js';
import type { SendState } from './send-state.js';

/** Transactional messages are what a person did something for; marketing needs their consent and respects their hours. */
export type Category = 'transactional' | 'marketing';

/** How the address of a send is found: again at every attempt, so that a corrected one is used. */
export type Recipient =
  | { readonly contact_id: string }
  | { readonly external_id: string }
  | { readonly address: string }
  /** Identity says where it goes, and what nobody else may read: neither is stored. */
  | { readonly link: LinkRef };

/** Whom a caller can name: what identity alone can address comes by its events. */
export type NamedRecipient = Exclude<Recipient, { readonly link: LinkRef }>;

/** Dispatchers take the first lane first. */
export const LANES: Readonly<Record<Category, number>> = { transactional: 0, marketing: 1 };

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
}

/** What a send is made of until it is final. */
export interface SendPayload {
  readonly data: Readonly<Record<string, unknown>>;
  readonly event: Record<string, unknown> | null;
  /** Compiled parts of a send without template. */
  readonly content: readonly PartSource[] | null;
}

/** A send to be stored. */
export interface NewSend extends SendFacts, SendPayload {
  readonly state: SendState;
  readonly reason: string | null;
  readonly recipient: Recipient;
  readonly address: string | null;
  readonly addressKey: string | null;
  readonly sender: string | null;
  readonly templateId: string | null;
  readonly templateVersion: number | null;
  readonly locale: string | null;
  readonly source: 'api' | 'routing' | 'campaign';
  readonly sourceId: string | null;
  readonly dueAt: Date | null;
  readonly expiresAt: Date | null;
}

/** Parts of a send's own content, as given. */
export type InlineContent = LocaleParts;
