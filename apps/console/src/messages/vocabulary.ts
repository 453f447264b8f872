import type { Tone } from '../ui/badge.tsx';

export const CHANNELS = ['email', 'sms', 'push', 'whatsapp', 'in_app'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Kinds of templates: one that is sent, a frame around others, or a piece of them (messaging.md §4). */
export const TEMPLATE_KINDS = ['message', 'layout', 'partial'] as const;
export type TemplateKind = (typeof TEMPLATE_KINDS)[number];

export const CATEGORIES = ['transactional', 'marketing'] as const;

/** The states of a send, in the order that it goes through them. */
export const STATES = [
  'accepted',
  'rendering',
  'gated',
  'dispatching',
  'held',
  'sent',
  'unknown',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'suppressed',
  'opted_out',
  'capped',
  'failed',
  'canceled',
] as const;
export type State = (typeof STATES)[number];

export const TONES: Record<State, Tone> = {
  accepted: 'neutral',
  rendering: 'neutral',
  gated: 'neutral',
  dispatching: 'neutral',
  held: 'warn',
  sent: 'accent',
  unknown: 'warn',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'warn',
  opted_out: 'warn',
  capped: 'warn',
  failed: 'bad',
  canceled: 'neutral',
};

/** Why a send is where it is: those of messaging.md §5, and the codes that end one. */
export const REASONS = [
  'no_consent',
  'preference',
  'quiet_hours',
  'cap',
  'expired',
  'organization_suspended',
  'contact_deleted',
  'retries_exhausted',
  'provider_rejected',
  'provider_misconfigured',
  'outcome_unknown',
  'rule_disabled',
  'not_permitted',
  'campaign_canceled',
  'campaign_paused',
  'erased',
  'rate_limited',
  'recipient_suppressed',
  'recipient_unreachable',
  'channel_not_configured',
  'sender_domain_unverified',
  'invalid_address',
  'template_invalid',
  'render_failed',
  'render_limit_exceeded',
  'invalid_token',
  'deferred',
  'internal_error',
] as const;

export const SUPPRESSION_REASONS = [
  'manual',
  'hard_bounce',
  'repeated_soft_bounce',
  'complaint',
  'stop_keyword',
  'invalid_token',
] as const;

/** What a message of a channel is made of (messaging.md §4). */
export const PARTS: Record<Channel, readonly string[]> = {
  email: ['subject', 'html', 'mjml', 'text'],
  sms: ['text'],
  push: ['title', 'body', 'url'],
  in_app: ['title', 'body', 'url'],
  whatsapp: ['text'],
};

/** What can lead to a message (messaging.md §3). */
export const ROUTABLE_EVENTS = [
  'core.event.recorded',
  'core.segment.entered',
  'core.segment.left',
  'loyalty.points.earned',
  'loyalty.points.spent',
  'loyalty.points.expired',
] as const;

export type EventType = (typeof ROUTABLE_EVENTS)[number];

/** Whether a text is one of a list of words. */
export function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return (words as readonly unknown[]).includes(value);
}
