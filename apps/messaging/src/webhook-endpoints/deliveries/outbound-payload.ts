import type { DomainEvent } from '@customer-platform/events';
import { eventName } from '../../vocabulary/makers/subscriptions.js';

/** Fields that hold an address by their very meaning, whatever stands in them. */
const ADDRESS_FIELDS = new Set(['email', 'phone', 'push_token', 'address']);
/** One character that a mail address has not. */
const NO_MAIL = /[\s@<>",;]/;
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
  if (typeof value === 'string') return holdsAddress(value) ? null : value;
  if (Array.isArray(value)) return value.map(withoutAddresses);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      // A person may be kept under the address itself.
      holdsAddress(field) ? '' : field,
      ADDRESS_FIELDS.has(field.toLowerCase()) ? null : withoutAddresses(inner),
    ]),
  );
}

function holdsAddress(text: string): boolean {
  return holdsMail(text) || PHONE.test(text);
}

/**
 * Whether a mail address stands anywhere in a text, as in `Ana <ana@example.com>`: something before an `@`, and behind
 * it a dot within what follows. From one `@` to the next, each character once; a pattern would begin anew at each.
 */
function holdsMail(text: string): boolean {
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    if (at === 0 || NO_MAIL.test(text.charAt(at - 1))) continue;
    let end = at + 1;
    let dot = -1;
    while (end < text.length && !NO_MAIL.test(text.charAt(end))) {
      if (text[end] === '.' && end > at + 1 && dot === -1) dot = end;
      end += 1;
    }
    if (dot !== -1 && end > dot + 1) return true;
  }
  return false;
}
