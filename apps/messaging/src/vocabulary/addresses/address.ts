import { matchedPhone, readEmail, readPhone } from '@customer-platform/http';
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

const MAX_PUSH_TOKEN = 4_096;
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

/**
 * Checks an address that somebody names anew: a phone number must be one of its country's numbering plan, too. What
 * stands stored, of contacts, suppressions and reports, is read by {@link checkAddress}: there it is only compared.
 */
export function checkNewAddress(channel: Channel, text: string): CheckedAddress | undefined {
  const isPhone = channel === 'sms' || channel === 'whatsapp';
  return isPhone && 'detail' in readPhone(text, null) ? undefined : checkAddress(channel, text);
}

function checkEmail(text: string): CheckedAddress | undefined {
  const read = readEmail(text);
  if (!read) return undefined;
  const { delivery, canonical, domain } = read;
  const tag = canonical.indexOf('+');
  return {
    channel: 'email',
    delivery,
    canonical,
    ...(tag > 0 && tag < canonical.lastIndexOf('@')
      ? { untagged: `${canonical.slice(0, tag)}@${domain}` }
      : {}),
    domain,
  };
}

function checkPhone(channel: Channel, text: string): CheckedAddress | undefined {
  // Only the international form: a national one means another person in another country.
  if (!/^\+[0-9 ().\u00a0-]{6,40}$/.test(text)) return undefined;
  const number = matchedPhone(text, null);
  return number === undefined ? undefined : bare(channel, number);
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
