import { createHmac } from 'node:crypto';

/**
 * By what an event earns once by a rule. Keyed: an event id follows from its idempotency key, and a plain hash would
 * let whoever guesses that key find the row of an erased contact.
 */
export function ruleEventHash(key: string, organizationId: string, ruleId: string, eventId: string): Buffer {
  return createHmac('sha256', key).update(`earn\0${organizationId}\0${ruleId}\0${eventId}`).digest();
}
