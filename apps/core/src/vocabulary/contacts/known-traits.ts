import { canonicalTimeZone, cutEnds, isLongerThan } from '@customer-platform/http';
import { matchedEmail, READ_ANEW, type NormalForms } from '../identities/identity-value.js';
import { CONTACT_FIELDS, type FieldReader, type KnownTrait } from './contact-field-table.js';
import { COUNTRY_CODES } from './country-codes.js';

/** Why a known trait was skipped; the code of the event's warning. */
export type TraitFault = 'wrong_type' | 'invalid_format' | 'too_long' | 'too_short' | 'invalid_enum';

/** Why a trait cannot be kept, in words where there are better ones than those of the code. */
interface Fault {
  readonly fault: TraitFault;
  readonly detail?: string;
}

/** A trait's value as the contact keeps it, or why it cannot. */
type ReadTrait = { readonly value: string | null } | Fault;

/** How long these fields are at most, by whichever way they come (core.md §2). */
export const LONGEST = { name: 100, locale: 35, timezone: 64 } as const;

/** The values of a contact by which its traits are read. */
interface Known {
  readonly country: string | null;
  readonly email: string | null;
  readonly emailNormal: string | null;
  readonly phone: string | null;
}

/** A contact of which nothing is known yet. */
export const UNKNOWN: Known = { country: null, email: null, emailNormal: null, phone: null };

/**
 * Reads a known trait of a contact; null clears the field. A national phone number is one of its country; the number and
 * the address that it has stay as they are where they would not be taken today.
 */
export function readTrait(
  trait: KnownTrait,
  sent: unknown,
  known: Known,
  forms: NormalForms = READ_ANEW,
): ReadTrait {
  const { country } = known;
  if (sent === null) return { value: null };
  if (typeof sent !== 'string') return { fault: 'wrong_type' };
  const text = cutEnds(sent);
  if (text === '') return { fault: 'too_short' };
  const value =
    keptValue(trait, text, known, forms) ?? READERS[CONTACT_FIELDS[trait].reader](text, country, forms);
  return typeof value === 'string' ? { value } : value;
}

/** The contact's own value, where the text says it again and it stays as it is. */
function keptValue(
  trait: KnownTrait,
  text: string,
  { country, email, emailNormal, phone }: Known,
  forms: NormalForms,
): string | undefined {
  if (trait === 'phone' && phone !== null && forms.phone(text, country) === phone) return phone;
  if (trait !== 'email' || email === null || forms.email(text)) return undefined;
  return matchedEmail(text, forms) === emailNormal ? email : undefined;
}

type Reader = (sent: string, country: string | null, forms: NormalForms) => string | Fault;

/** The external id is none that a trait could say: by it the contact is found. */
const READERS: Record<Exclude<FieldReader, 'external_id'>, Reader> = {
  country: (sent) => {
    const code = sent.toUpperCase();
    return COUNTRY_CODES.has(code) ? code : { fault: 'invalid_enum' };
  },
  email: (sent, _, forms) => forms.email(sent)?.written ?? { fault: 'invalid_format' },
  phone: (sent, country, forms) => {
    const read = forms.newPhone(sent, country);
    return 'number' in read ? read.number : { fault: 'invalid_format', detail: read.detail };
  },
  name: (sent) => (isLongerThan(sent, LONGEST.name) ? { fault: 'too_long' } : sent),
  past_date: (sent) => (isPastDate(sent) ? sent : { fault: 'invalid_format' }),
  locale: (sent) => canonicalLocale(sent) ?? { fault: 'invalid_format' },
  timezone: (sent) => canonicalTimeZone(sent) ?? { fault: 'invalid_enum' },
};

/** Tells whether it is a date of the calendar, `2000-02-29`, not after today. */
export function isPastDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^(?!0000)\d{4}-\d\d-\d\d$/.test(value)) return false;
  const read = new Date(`${value}T00:00:00.000Z`);
  return (
    !Number.isNaN(read.getTime()) && read.toISOString().startsWith(value) && read.getTime() <= Date.now()
  );
}

function canonicalLocale(text: string): string | undefined {
  if (text.length > LONGEST.locale) return undefined;
  try {
    // `es_CL` is what many systems write for the BCP 47 tag `es-CL`.
    return Intl.getCanonicalLocales(text.replaceAll('_', '-'))[0];
  } catch {
    return undefined; // the only thing it throws is that the tag is malformed
  }
}
