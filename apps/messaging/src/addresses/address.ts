import { domainToASCII } from 'node:url';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Channel } from './channel.js';

/**
 * An address after the one check every address passes (messaging.md §1). `delivery` is what a transport is handed and
 * nothing else; `canonical` is what suppressions are matched by.
 */
export interface CheckedAddress {
  readonly channel: Channel;
  /** As given, its domain in ASCII: the only text that may enter an SMTP envelope. */
  readonly delivery: string;
  /** Lower case, domain in UTS-46 ASCII, dots kept. */
  readonly canonical: string;
  /** `a@d` of `a+x@d`; only where there is a tag. */
  readonly untagged?: string;
  /** E-mail only. */
  readonly domain?: string;
  /** What it was matched by in releases before: rows may stand under it. */
  readonly former?: string;
}

const MAX_EMAIL = 254;
const MAX_LOCAL = 64;
const MAX_PUSH_TOKEN = 4_096;
/** RFC 5321 dot-string in ASCII: no quoted local part, so no space, quote, comma, bracket or control character. */
const DOT_STRING = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** `domainToASCII` undoes percent escapes, drops tabs and takes IPv6 literals, as URLs need; a mail domain has none. */
const NEVER_IN_DOMAIN = /[\s\p{Cc}%[\]:/?#\\@"(),;<>]/u;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Checks one bare address of a channel.
 * @returns the address, or undefined when it is not one: a display name, a comment, a quoted local part, a control
 * character, a second address, a domain without a dot or of digits only, a phone number that no country has
 */
export function checkAddress(channel: Channel, text: string): CheckedAddress | undefined {
  switch (channel) {
    case 'email':
      return checkEmail(text);
    case 'sms':
    case 'whatsapp':
      return checkPhone(channel, text);
    case 'push':
      return checkToken(text);
    case 'in_app':
      return UUID.test(text.toLowerCase()) ? bare(channel, text.toLowerCase()) : undefined;
  }
}

/** A mail domain in lower-case UTS-46 ASCII, or undefined when mail cannot be addressed to it. */
export function checkDomain(text: string): string | undefined {
  if (text.length === 0 || text.length > MAX_EMAIL || NEVER_IN_DOMAIN.test(text)) return undefined;
  const domain = domainToASCII(text).toLowerCase();
  const labels = domain.split('.');
  // A dotless domain, an IPv4 address and a trailing dot are not where a person's mail goes.
  if (domain.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label)))
    return undefined;
  return /^\d+$/.test(labels.at(-1) ?? '') ? undefined : domain;
}

function checkEmail(text: string): CheckedAddress | undefined {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if (at < 1 || local.length > MAX_LOCAL || !DOT_STRING.test(local)) return undefined;
  const domain = checkDomain(text.slice(at + 1));
  if (!domain || local.length + 1 + domain.length > MAX_EMAIL) return undefined;
  const lower = local.toLowerCase();
  const tag = lower.indexOf('+');
  return {
    channel: 'email',
    delivery: `${local}@${domain}`,
    canonical: `${lower}@${domain}`,
    ...(tag > 0 ? { untagged: `${lower.slice(0, tag)}@${domain}` } : {}),
    domain,
  };
}

function checkPhone(channel: Channel, text: string): CheckedAddress | undefined {
  // Only the international form: a national one means another person in another country.
  if (!/^\+[0-9 ().\u00a0-]{6,40}$/.test(text)) return undefined;
  const number = parsePhoneNumberFromString(text, { extract: false });
  return number?.isPossible() ? bare(channel, number.number) : undefined;
}

function checkToken(text: string): CheckedAddress | undefined {
  if (text.length === 0 || text.length > MAX_PUSH_TOKEN || !/^[\x21-\x7e]+$/.test(text)) return undefined;
  const endpoint = endpointOf(text);
  return endpoint === undefined
    ? bare('push', text)
    : { channel: 'push', delivery: text, canonical: endpoint, former: text };
}

/** Of a browser's subscription: whatever its keys are and however it is written, an endpoint is one device. */
function endpointOf(token: string): string | undefined {
  if (!token.startsWith('{')) return undefined;
  try {
    const { endpoint } = JSON.parse(token) as { endpoint?: unknown };
    return typeof endpoint === 'string' && URL.canParse(endpoint) ? new URL(endpoint).href : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function bare(channel: Channel, text: string): CheckedAddress {
  return { channel, delivery: text, canonical: text };
}
