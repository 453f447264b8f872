/**
 * What a report of feedback means by its type (RFC 5965 §7.3, and what is registered since): `abuse` and its like are a
 * person who wants no more; `not-spam` says the contrary, `auth-failure` and `dmarc` are about signatures.
 */
const COMPLAINTS: ReadonlySet<string> = new Set(['abuse', 'fraud', 'virus', 'other', 'opt-out']);

/** Whether a report of this type is a complaint of its recipient. */
export function isComplaint(feedbackType: string): boolean {
  return COMPLAINTS.has(feedbackType.toLowerCase());
}
