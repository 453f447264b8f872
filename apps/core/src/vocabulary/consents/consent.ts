/** What a consent can be about; an organization adds its own as `custom.<slug>`. */
const PURPOSES = [
  'marketing',
  'loyalty',
  'profiling',
  'analytics',
  'research',
  'third_party_sharing',
] as const;

const CUSTOM_PURPOSE = /^custom\.[a-z0-9][a-z0-9_-]{0,62}$/;

/** The channels a consent can be limited to: those of messaging. */
export const CONSENT_CHANNELS = ['email', 'in_app', 'push', 'sms', 'whatsapp'] as const;

/** What can be said. */
export const SAID = ['granted', 'denied', 'withdrawn'] as const;

/** What can hold. */
export const STATES = ['granted', 'expired', 'denied', 'withdrawn'] as const;

/** What a person has said. */
export type Said = (typeof SAID)[number];

/** What holds: a grant ends by itself at its time. */
export type ConsentStatus = (typeof STATES)[number];

/** What {@link isPurpose} takes, for descriptions. */
export const PURPOSE_PATTERN = `^(${PURPOSES.join('|')})$|${CUSTOM_PURPOSE.source}`;

/** Whether a text names a purpose (core.md §5). */
export function isPurpose(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  return (PURPOSES as readonly string[]).includes(text) || CUSTOM_PURPOSE.test(text);
}

/** A recorded event: what was said, about what, and with which proof. */
export interface ConsentEventRow {
  id: string;
  contact_id: string;
  purpose: string;
  channel: string | null;
  status: Said;
  notice_version: string | null;
  notice_hash: string | null;
  method: string | null;
  legal_basis: string;
  jurisdiction: string | null;
  evidence: Record<string, unknown> | null;
  pii_categories: string[];
  recipients: string[];
  storage_locations: string[];
  retention: string | null;
  withdrawal_method: string | null;
  expires_at: Date | null;
  occurred_at: Date;
  controller: string;
  actor_type: string;
  actor_id: string;
  impersonator_id: string | null;
  correlation_id: string;
  recorded_at: Date;
}

/** What holds for a (purpose, channel), and the event that decides it. */
export interface ConsentStateRow {
  /** Of the pair, the same as long as it exists: orders states that one event decides. */
  id: string;
  purpose: string;
  channel: string | null;
  status: ConsentStatus;
  event_id: string;
  occurred_at: Date;
  expires_at: Date | null;
  notice_version: string | null;
  method: string | null;
  legal_basis: string;
  correlation_id: string;
}
