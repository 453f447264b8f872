import { domainToASCII } from 'node:url';
import { cutEnds, plainText } from './texts.js';

/** An e-mail address after the one check that every address passes, whichever module reads it. */
export interface EmailAddress {
  /** The address as it was sent, in NFC, without invisible characters and blanks at its ends. */
  readonly written: string;
  /** Its domain in ASCII: the only text that may enter an SMTP envelope. */
  readonly delivery: string;
  /** The form by which addresses are compared: lower case. Dots and tags are kept, they are the provider's affair. */
  readonly canonical: string;
  readonly domain: string;
}

/** RFC 5321 §4.5.3.1, without the angle brackets. */
const LONGEST_LOCAL_PART = 64;
const LONGEST_DOMAIN = 253;
/** The longest address. */
export const LONGEST_EMAIL = 254;
/** The longest text that is looked at, however much of it may be invisible. */
const LONGEST_TEXT = 1_024;

/** RFC 5321's dot-string: no quoted local part, and none beyond ASCII, which no transport of the platform can carry. */
const DOT_STRING = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** `domainToASCII` undoes percent escapes, drops tabs and takes IPv6 literals, as URLs need; a mail domain has none. */
const NEVER_IN_DOMAIN = /[\s\p{Cc}%[\]:/?#\\@"(),;<>]/u;

/**
 * Reads one bare address: what nobody sees is cut wherever it stands, blanks only at the ends.
 * @returns undefined for what mail cannot be sent to: a display name, a comment, a quoted local part or one beyond
 * ASCII, a control character, a second address, a domain without a dot or of digits only
 */
export function readEmail(text: string): EmailAddress | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const written = cutEnds(plainText(text));
  const at = written.lastIndexOf('@');
  const local = written.slice(0, at);
  if (at < 1 || written.length > LONGEST_EMAIL || local.length > LONGEST_LOCAL_PART) return undefined;
  const domain = DOT_STRING.test(local) ? mailDomain(written.slice(at + 1)) : undefined;
  if (domain === undefined || local.length + 1 + domain.length > LONGEST_EMAIL) return undefined;
  return {
    written,
    delivery: `${local}@${domain}`,
    canonical: `${local.toLowerCase()}@${domain}`,
    domain,
  };
}

/** A mail domain in lower-case UTS-46 ASCII, or undefined when mail cannot be addressed to it. */
export function readMailDomain(text: string): string | undefined {
  return text.length > LONGEST_TEXT ? undefined : mailDomain(cutEnds(plainText(text)));
}

/** Reads a domain that has been cut: a blank is no part of one. */
function mailDomain(plain: string): string | undefined {
  if (plain.length === 0 || plain.length > LONGEST_EMAIL || NEVER_IN_DOMAIN.test(plain)) return undefined;
  const domain = domainToASCII(plain).toLowerCase();
  const labels = domain.split('.');
  // A dotless domain, an IPv4 address and a trailing dot are not where a person's mail goes.
  if (domain.length > LONGEST_DOMAIN || labels.length < 2 || !labels.every((label) => LABEL.test(label)))
    return undefined;
  return /^\d+$/.test(labels.at(-1) ?? '') ? undefined : domain;
}
