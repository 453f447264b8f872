import type { DomainEvent } from '@customer-platform/events';
import { eventName } from '../subscriptions.js';

/** Fields that hold an address by their very meaning, whatever stands in them. */
const ADDRESS_FIELDS = new Set(['email', 'phone', 'push_token', 'address']);
/** A mail address anywhere in a text, as in `Ana <ana@example.com>`. */
const MAIL = /[^\s@<>",;]+@[^\s@<>",;]+\.[^\s@<>",;]+/;
/** E.164, with the separators people write. */
const PHONE = /^\s*\+\d[\d\s().-]{6,20}\s*$/;

/**
 * What leaves the platform about an event: `{type, timestamp, data}` (Standard Webhooks), without addresses
 * (messaging.md §8). An address is null, so that its field is still there; who needs it asks the API by the id, with
 * the rights that takes.
 */
export function outboundPayload(event: DomainEvent): string {
  return JSON.stringify({
    type: eventName(event.type),
    timestamp: event.time,
    data: withoutAddresses(event.data),
  });
}

function withoutAddresses(value: unknown): unknown {
  if (typeof value === 'string') return MAIL.test(value) || PHONE.test(value) ? null : value;
  if (Array.isArray(value)) return value.map(withoutAddresses);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      // A person may be kept under the address itself.
      MAIL.test(field) || PHONE.test(field) ? '' : field,
      ADDRESS_FIELDS.has(field.toLowerCase()) ? null : withoutAddresses(inner),
    ]),
  );
}
