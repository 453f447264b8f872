import { domainToASCII } from 'node:url';
import {
  identifierForms,
  LONGEST_EMAIL,
  matchedPhone,
  readEmail,
  readPhone,
  type EmailAddress,
  type ReadPhone,
} from '@customer-platform/http';

/** The type of the identities that are devices. */
export const PUSH_TOKEN = 'custom.push_token';

/** Reads addresses and numbers. */
export interface NormalForms {
  email(value: string): EmailAddress | undefined;
  /** Reads the form by which a number is found, also one that would not be taken today. */
  phone(value: string, country: string | null | undefined): string | undefined;
  /** A number as it may be stored anew. */
  newPhone(value: string, country: string | null | undefined): ReadPhone;
}

/** Reads each anew. */
export const READ_ANEW: NormalForms = { email: readEmail, phone: matchedPhone, newPhone: readPhone };

/** Reads each once, and remembers it for as long as it lives itself: for rows of which several steps ask the same. */
export class ReadOnce implements NormalForms {
  private readonly emails = new Map<string, EmailAddress | undefined>();
  private readonly phones = new Map<string, string | undefined>();
  private readonly newPhones = new Map<string, ReadPhone>();

  email(value: string): EmailAddress | undefined {
    const known = this.emails.get(value);
    if (known !== undefined || this.emails.has(value)) return known;
    const read = readEmail(value);
    this.emails.set(value, read);
    return read;
  }

  phone(value: string, country: string | null | undefined): string | undefined {
    const key = `${country ?? ''} ${value}`;
    const known = this.phones.get(key);
    if (known !== undefined || this.phones.has(key)) return known;
    const read = matchedPhone(value, country);
    this.phones.set(key, read);
    return read;
  }

  newPhone(value: string, country: string | null | undefined): ReadPhone {
    const key = `${country ?? ''} ${value}`;
    const read = this.newPhones.get(key) ?? readPhone(value, country);
    this.newPhones.set(key, read);
    return read;
  }
}

/** Tells whether only another system knows what a value of the type means: all but addresses and numbers. */
export function isOpaque(type: string): boolean {
  return type !== 'email' && type !== 'phone';
}

/**
 * An identity's value in the form in which it is unique; undefined if the type does not take it. Of a number it is the
 * form in which those are found that are there: {@link mayBeNew} tells whether another may come.
 */
export function normalIdentity(
  type: string,
  value: string,
  country: string | null | undefined,
): string | undefined {
  switch (type) {
    case 'email':
      return readEmail(value)?.canonical;
    case 'phone':
      return matchedPhone(value, country);
    default:
      // Identifiers of other systems are compared byte by byte, once `keptForms` has chosen which.
      return value;
  }
}

/**
 * The form in which somebody is found who has an identity already: a number of no plan and an address that was taken
 * before are among them. {@link mayBeNew} tells whether another contact may come to have it.
 */
export function matchedIdentity(
  type: string,
  value: string,
  country: string | null | undefined,
): string | undefined {
  return type === 'email' ? matchedEmail(value) : normalIdentity(type, value, country);
}

/** Reads the form by which an address is found, also one that would not be taken today. */
export function matchedEmail(value: string, forms: NormalForms = READ_ANEW): string | undefined {
  return forms.email(value)?.canonical ?? formerEmail(value);
}

/**
 * Tells whether a value that no contact has may become an identity: a number must be of its country's plan, an address one
 * that mail can be sent to.
 */
export function mayBeNew(type: string, value: string, country: string | null | undefined): boolean {
  if (type === 'email') return readEmail(value) !== undefined;
  return type !== 'phone' || 'number' in readPhone(value, country);
}

/** An identity's value as it is shown. */
export function shownIdentity(type: string, value: string): string {
  return type === 'email' ? (readEmail(value)?.written ?? value) : value;
}

/**
 * The forms under which an identity may stand: of an address the one that it has now, and the one that releases before
 * gave it, whose rows are still there (ADR 408); of an identifier of another system its writings, the given one first.
 */
export function identityForms(type: string, value: string, country: string | null | undefined): string[] {
  if (isOpaque(type)) return identifierForms(value);
  const forms = [normalIdentity(type, value, country), type === 'email' ? formerEmail(value) : undefined];
  return [...new Set(forms.flatMap((form) => form ?? []))];
}

/** Yields what was kept of an address when more was taken for one; undefined for what never was one. */
function formerEmail(value: string): string | undefined {
  const text = value.trim();
  const at = text.lastIndexOf('@');
  const domain = text.length > LONGEST_EMAIL ? '' : domainToASCII(text.slice(at + 1));
  return at < 1 || domain === '' ? undefined : `${text.slice(0, at).toLowerCase()}@${domain}`;
}

/** How many identities of a type one contact may have (core.md §3). */
export function identityLimit(type: string): number {
  switch (type) {
    case 'external_id':
      return 1;
    case 'anonymous_id':
    case 'device_id':
      return 20;
    default:
      return 5;
  }
}

/** How many identities one contact may have, of all types together; also by a merge. */
export const IDENTITIES_OF_CONTACT = 500;

/** How many a contact may come to have by a merge: external ids are one only until then. */
export function mergedIdentityLimit(type: string): number {
  return type === 'external_id' ? 100 : identityLimit(type);
}

/** Whether the least recently seen identity of this type makes room for a new one. */
export function makesRoom(type: string): boolean {
  return type === 'anonymous_id' || type === 'device_id';
}
