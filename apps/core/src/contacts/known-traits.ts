import { isLongerThan } from '@customer-platform/http';
import { READ_ANEW, type NormalForms } from '../identities/identity-value.js';
import { COUNTRY_CODES } from './country-codes.js';

/** The fields of a contact that an identify may set by name; every other trait is an attribute. */
export const KNOWN_TRAITS = [
  // The country comes first: a national phone number is read by it.
  'country',
  'email',
  'phone',
  'first_name',
  'last_name',
  'locale',
  'timezone',
] as const;

/** One of {@link KNOWN_TRAITS}. */
export type KnownTrait = (typeof KNOWN_TRAITS)[number];

/** Where the contact keeps each of them. */
export const TRAIT_PROPERTY = {
  country: 'country',
  email: 'email',
  phone: 'phone',
  first_name: 'firstName',
  last_name: 'lastName',
  locale: 'locale',
  timezone: 'timezone',
} as const satisfies Record<KnownTrait, string>;

/** Why a known trait was skipped; the code of the event's warning. */
export type TraitFault = 'wrong_type' | 'invalid_format' | 'too_long' | 'too_short' | 'invalid_enum';

/** A trait's value as the contact keeps it, or why it cannot. */
type ReadTrait = { value: string | null } | { fault: TraitFault };

/** How long these fields are at most, by whichever way they come (core.md §2). */
export const LONGEST = { name: 100, locale: 35, timezone: 64 } as const;

/** Reads a known trait; null clears the field. `country` is the contact's, for national phone numbers. */
export function readTrait(
  trait: KnownTrait,
  sent: unknown,
  country: string | null,
  forms: NormalForms = READ_ANEW,
): ReadTrait {
  if (sent === null) return { value: null };
  if (typeof sent !== 'string') return { fault: 'wrong_type' };
  if (sent.trim() === '') return { fault: 'too_short' };
  const value = READERS[trait](sent, country, forms);
  return typeof value === 'string' ? { value } : value;
}

type Reader = (sent: string, country: string | null, forms: NormalForms) => string | { fault: TraitFault };

const name: Reader = (sent) => (isLongerThan(sent, LONGEST.name) ? { fault: 'too_long' } : sent);

const READERS: Record<KnownTrait, Reader> = {
  country: (sent) => {
    const code = sent.trim().toUpperCase();
    return COUNTRY_CODES.has(code) ? code : { fault: 'invalid_enum' };
  },
  email: (sent, _, forms) =>
    forms.email(sent.trim()) === undefined ? { fault: 'invalid_format' } : sent.trim(),
  phone: (sent, country, forms) => forms.phone(sent, country) ?? { fault: 'invalid_format' },
  first_name: name,
  last_name: name,
  locale: (sent) => canonicalLocale(sent.trim()) ?? { fault: 'invalid_format' },
  timezone: (sent) => (isTimeZone(sent.trim()) ? sent.trim() : { fault: 'invalid_enum' }),
};

function canonicalLocale(text: string): string | undefined {
  if (text.length > LONGEST.locale) return undefined;
  try {
    // `es_CL` is what many systems write for the BCP 47 tag `es-CL`.
    return Intl.getCanonicalLocales(text.replaceAll('_', '-'))[0];
  } catch {
    return undefined; // the only thing it throws is that the tag is malformed
  }
}

const knownZones = new Map<string, boolean>();
const KNOWN_ZONES_LIMIT = 2_000;

/** Whether the text names a zone of the IANA database, aliases included; an offset is no zone. */
function isTimeZone(text: string): boolean {
  // Nothing long is looked at, nor remembered.
  if (text.length > LONGEST.timezone) return false;
  const known = knownZones.get(text);
  if (known !== undefined) return known;
  const answer = /^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text) && hasZone(text);
  if (knownZones.size >= KNOWN_ZONES_LIMIT) knownZones.clear();
  knownZones.set(text, answer);
  return answer;
}

function hasZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // the only thing it throws is that there is no such zone
  }
}
