import { hash } from 'node:crypto';

/**
 * The id of an event, made of organization and idempotency key, so that a retry is answered with the same id without a
 * look-up (contract.md §6).
 */
export function eventIdOf(organizationId: string, idempotencyKey: string): string {
  // An organization id has a fixed length, so nothing else can hash to the same text.
  return derivedId(`event\n${organizationId}\n${idempotencyKey}`);
}

/** A UUID version 8 (RFC 9562 §5.8) made of SHA-256 over the text, which begins with what it is the id of. */
export function derivedId(text: string): string {
  const digest = hash('sha256', text, 'hex');
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return (
    `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-` +
    `${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  );
}
