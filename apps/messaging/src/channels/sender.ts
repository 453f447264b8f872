import { checkAddress } from '../addresses/address.js';
import type { Channel } from '../addresses/channel.js';

/** `Name <addr>` or the bare address; of other channels than e-mail the name is empty. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** A short code, an alphanumeric sender id (GSM 03.40: at most 11 characters), or a provider's own sender pool. */
const SENDER_ID = /^(?:[0-9]{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 _-]{1,11}|MG[0-9a-fA-F]{32})$/;

/** Reads a mail sender; undefined when it is not one. Used by settings and by each send's `from`. */
export function parseSender(text: string): Sender | undefined {
  const [, name = '', bracketed] = /^(?:"?([^"<>]*?)"?\s*)<([^<>]+)>$/.exec(text) ?? [];
  const checked = checkAddress('email', bracketed ?? text);
  if (!checked || name.length > 100 || /\p{Cc}/u.test(name)) return undefined;
  return { name: name.trim(), address: checked.delivery };
}

/** Reads a sender of any channel; undefined when it is not one. */
export function senderOf(channel: Channel, text: string): Sender | undefined {
  if (channel === 'email') return parseSender(text);
  if (channel === 'push' || channel === 'in_app')
    return text.length > 0 && text.length <= 200 && !/\p{Cc}/u.test(text)
      ? { name: '', address: text }
      : undefined;
  const phone = checkAddress(channel, text);
  if (phone) return { name: '', address: phone.delivery };
  return channel === 'sms' && SENDER_ID.test(text) ? { name: '', address: text } : undefined;
}
