import { hash } from 'node:crypto';
import type { Share } from './plan.ts';

const DAY_MS = 86_400_000;
/** Events and contacts lie within this long before the seed's end. */
const SPAN_MS = 400 * DAY_MS;

const FIRST_NAMES = ['Ana', 'Benjamín', 'Camila', 'Diego', 'Elisa', 'Felipe', 'Gabriela', 'Hugo', 'Isabel'];
const LAST_NAMES = [
  'Rojas',
  'Soto',
  'Muñoz',
  'Díaz',
  'Pérez',
  'González',
  'Silva',
  'Vera',
  'Lagos',
  'Fuentes',
];
const COUNTRIES = ['CL', 'CL', 'CL', 'AR', 'PE', 'CO', 'MX', 'BR'];
const EVENTS = ['page_viewed', 'page_viewed', 'product_viewed', 'cart_updated', 'purchase_completed'];

/** The columns that each COPY fills; the others have defaults. */
export const COLUMNS = {
  contacts:
    'organization_id, id, external_id, email, email_normal, phone, first_name, last_name, locale, timezone, country, attributes, field_times, source, created_at, updated_at',
  identities:
    'organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at, created_at, updated_at',
  contact_activity: 'organization_id, contact_id, last_seen_at',
  events:
    'organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload, source, fingerprint, created_at',
} as const;

export type SeededTable = keyof typeof COLUMNS;

/** A value of the list, by number. */
function one<T>(list: readonly T[], number: number): T {
  return list[number % list.length] as T;
}

/** Spreads numbers over a range as a hash does, the same each time (Knuth's multiplicative method). */
function scattered(number: number, range: number): number {
  return Math.floor(((number * 2_654_435_761) % 4_294_967_296) * (range / 4_294_967_296));
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

/** A version 7 UUID of an instant, told apart by kind, organization and number. */
function timedId(ms: number, kind: number, place: number, number: number): string {
  const time = hex(ms, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(place % 4096, 3)}-${hex(0x8000 + kind * 0x100 + Math.floor(place / 4096), 4)}-${hex(number, 12)}`;
}

/** An event's id as core makes it of organization and key: a version 8 UUID, by which a key is found. */
export function eventIdOf(organizationId: string, key: string): string {
  const digest = hash('sha256', `event\n${organizationId}\n${key}`, 'hex');
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** One line of COPY's text format; no value holds a tab, a line break or a backslash. */
const line = (...values: (string | null)[]): string =>
  `${values.map((value) => value ?? '\\N').join('\t')}\n`;

/** The rows of one organization, by number. The same in every run that has the same end. */
export class SeedRows {
  private readonly share: Share;
  private readonly begin: number;

  /** @param end milliseconds; the newest row is just before it */
  constructor(share: Share, end: number) {
    this.share = share;
    this.begin = end - SPAN_MS;
  }

  contactId(number: number): string {
    return timedId(this.createdAt(number), 1, this.share.place, number);
  }

  eventId(number: number): string {
    return eventIdOf(this.share.organizationId, this.key(number));
  }

  /** Lines of every table that a contact has rows in. */
  contact(number: number): Record<'contacts' | 'identities' | 'contact_activity', string> {
    const { organizationId, place } = this.share;
    const id = this.contactId(number);
    const created = this.createdAt(number);
    const at = new Date(created).toISOString();
    const [first, last] = [one(FIRST_NAMES, number), one(LAST_NAMES, Math.floor(number / 7))];
    const externalId = this.externalId(number);
    const email = `customer-${number}@shop-${place}.example`;
    const phone = `+569${String(number).padStart(8, '0')}`;
    const attributes = `{"plan": "${one(['free', 'basic', 'pro'], number)}", "visits": ${scattered(number, 500)}}`;
    const fields = ['external_id', 'email', 'phone', 'first_name', 'last_name', 'country'];
    const times = `{"fields": {${fields.map((field) => `"${field}": "${at}"`).join(', ')}}, "attributes": {}}`;
    const [country, timezone] = [one(COUNTRIES, number), 'America/Santiago'];
    const identity = (kind: number, type: string, value: string): string =>
      line(
        organizationId,
        timedId(created, kind, place, number),
        id,
        type,
        value,
        value,
        'load',
        at,
        at,
        at,
        at,
      );
    return {
      contacts: line(
        ...[organizationId, id, externalId, email, email, phone, first, last, 'es-CL', timezone, country],
        ...[attributes, times, 'load', at, at],
      ),
      identities:
        identity(2, 'external_id', externalId) + identity(3, 'email', email) + identity(4, 'phone', phone),
      contact_activity: line(organizationId, id, this.instant(number + 1, this.share.contacts)),
    };
  }

  event(number: number): string {
    const { organizationId, contacts, events } = this.share;
    const contact = scattered(number, contacts);
    const at = this.instant(number, events);
    const payload = `{"amount": ${1_000 + scattered(number, 90_000)}, "currency": "CLP", "invoice_id": "F-${number}", "path": "/checkout/thanks"}`;
    const id = this.eventId(number);
    return line(
      ...[
        organizationId,
        id,
        'track',
        one(EVENTS, number),
        this.externalId(contact),
        this.contactId(contact),
      ],
      ...[this.key(number), at, at, payload, 'load', id, at],
    );
  }

  private externalId(number: number): string {
    return `load-${number}`;
  }

  private key(number: number): string {
    return `seed-${number}`;
  }

  private createdAt(number: number): number {
    return this.begin + Math.floor((SPAN_MS * number) / this.share.contacts);
  }

  private instant(number: number, of: number): string {
    return new Date(this.begin + Math.min(SPAN_MS - 1, Math.floor((SPAN_MS * number) / of))).toISOString();
  }
}
