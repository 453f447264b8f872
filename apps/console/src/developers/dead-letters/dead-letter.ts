import { readJson } from '../../ui/exact-json.ts';

/** Where an event can fail (core.md §6). */
export const STAGES = ['validate', 'resolve', 'store', 'profile', 'segments', 'emit', 'loyalty'] as const;

/** What can be the matter with a dead letter. */
export const LETTER_STATES = ['pending', 'replaying', 'replayed', 'closed'] as const;

/** How urgent a letter's state looks. */
export const LETTER_TONES = {
  pending: 'bad',
  replaying: 'warn',
  replayed: 'good',
  closed: 'neutral',
} as const;

/** Reads what was sent: parsed where it is JSON that is carried exactly, else as it came; undefined where nothing of it is kept. */
export function payloadOf(payload: string | null): unknown {
  if (payload === null || payload === '') return undefined;
  const read = readJson(payload);
  return 'value' in read ? read.value : payload;
}

/** The codes and closing reasons that are said in words of their own; of others the stage says it. */
export const CAUSES = [
  'idempotency_key_conflict',
  'credential_revoked',
  'subject_erased',
  'not_keepable',
  'payload_removed',
  'validation_failed',
  'malformed_json',
  'value_not_storable',
  'internal_error',
  'points_out_of_range',
  'evaluation_failed',
] as const;
type Cause = (typeof CAUSES)[number];

export function causeOf(code: string): Cause | undefined {
  return CAUSES.find((cause) => cause === code);
}
