import type { LETTER_STATES, STAGES } from './dead-letters/dead-letter.ts';

export const KEY_STATES = ['active', 'expiring', 'expired', 'revoked'] as const;

export const MODULES = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

export interface WebhooksSearch {
  enabled?: 'true' | 'false' | undefined;
  /** The endpoint beside the list, or the form of a new one. */
  open?: string | undefined;
}

export interface DeadLettersSearch {
  state?: (typeof LETTER_STATES)[number] | undefined;
  stage?: (typeof STAGES)[number] | undefined;
  code?: string | undefined;
  external_id?: string | undefined;
  event_id?: string | undefined;
  /** The event whose letters stand beside the list. */
  open?: string | undefined;
}

export interface ReferenceSearch {
  q?: string | undefined;
  module?: (typeof MODULES)[number] | undefined;
  /** The route beside the list: `GET /v1/core/contacts`. */
  open?: string | undefined;
}
