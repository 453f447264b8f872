import { domainToASCII } from 'node:url';
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js';

/** The type of the identities that are devices. */
export const PUSH_TOKEN = 'custom.push_token';

/** The longest address that mail carries (RFC 5321 §4.5.3.1.3). */
const EMAIL_LIMIT = 254;
const LOCAL_PART_LIMIT = 64;
const LOCAL_PART = /^[^\s@"(),:;<>[\]\\.]+(\.[^\s@"(),:;<>[\]\\.]+)*$/;
const DOMAIN = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

/**
 * An address in the form in which it is matched: lower case, the domain in UTS-46 ASCII (core.md §3). Undefined if
 * it is no address. Dots and tags are kept: whether they matter is the provider's affair.
 */
export function normalEmail(value: string): string | undefined {
  const at = value.lastIndexOf('@');
  const local = value.slice(0, at);
  if (at < 1 || value.length > EMAIL_LIMIT || local.length > LOCAL_PART_LIMIT || !LOCAL_PART.test(local)) {
    return undefined;
  }
  const domain = domainToASCII(value.slice(at + 1));
  return DOMAIN.test(domain) ? `${local.toLowerCase()}@${domain}` : undefined;
}

/** A number in E.164; a national form is read as one of `country` (ISO 3166-1). Undefined if it is no number. */
export function normalPhone(value: string, country: string | null | undefined): string | undefined {
  if (value.length > 40) return undefined;
  const number = parsePhoneNumberFromString(value, {
    defaultCountry: (country ?? undefined) as CountryCode | undefined,
    extract: false,
  });
  return number?.isPossible() && !number.ext ? number.number : undefined;
}

/** Reads addresses and numbers as {@link normalEmail} and {@link normalPhone} do. */
export interface NormalForms {
  email(value: string): string | undefined;
  phone(value: string, country: string | null | undefined): string | undefined;
}

/** Reads each anew. */
export const READ_ANEW: NormalForms = { email: normalEmail, phone: normalPhone };

/** Reads each once, and remembers it for as long as it lives itself: for rows of which several steps ask the same. */
export class ReadOnce implements NormalForms {
  private readonly emails = new Map<string, string | undefined>();
  private readonly phones = new Map<string, string | undefined>();

  email(value: string): string | undefined {
    const known = this.emails.get(value);
    if (known !== undefined || this.emails.has(value)) return known;
    const read = normalEmail(value);
    this.emails.set(value, read);
    return read;
  }

  phone(value: string, country: string | null | undefined): string | undefined {
    const key = `${country ?? ''} ${value}`;
    const known = this.phones.get(key);
    if (known !== undefined || this.phones.has(key)) return known;
    const read = normalPhone(value, country);
    this.phones.set(key, read);
    return read;
  }
}

/** An identity's value in the form in which it is unique; undefined if the type does not take it. */
export function normalIdentity(
  type: string,
  value: string,
  country: string | null | undefined,
): string | undefined {
  switch (type) {
    case 'email':
      return normalEmail(value.trim());
    case 'phone':
      return normalPhone(value, country);
    default:
      // Identifiers of other systems are compared byte by byte.
      return value;
  }
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
