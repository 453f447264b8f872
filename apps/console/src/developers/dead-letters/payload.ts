/** What was sent, parsed where it is JSON, else as it came; undefined where nothing of it is kept. */
export function payloadOf(payload: string | null): unknown {
  if (payload === null || payload === '') return undefined;
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return payload;
  }
}

/** The codes that a cause is said of in words of its own; of others the stage says it. */
const CAUSES = [
  'idempotency_key_conflict',
  'credential_revoked',
  'subject_erased',
  'validation_failed',
  'malformed_json',
  'value_not_storable',
  'internal_error',
  'points_out_of_range',
  'evaluation_failed',
] as const;
export type Cause = (typeof CAUSES)[number];

export function causeOf(code: string): Cause | undefined {
  return CAUSES.find((cause) => cause === code);
}
