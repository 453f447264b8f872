import { checkAddress } from '../addresses/address.js';
import type { Channel } from '../addresses/channel.js';

/** `Name <addr>` or the bare address; of other channels than e-mail the name is empty. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** A short code, an alphanumeric sender id (GSM 03.40: at most 11 characters), or a provider's own sender pool. */
const SENDER_ID = /^(?:[0-9]{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 _-]{1,11}|MG[0-9a-fA-F]{32})$/;

/** Of a sender's name, and of the whole with the longest address: what is longer is not looked at. */
const MAX_NAME = 100;
const MAX_SENDER = 512;

/** Reads a mail sender; undefined when it is not one. Used by settings and by each send's `from`. */
export function parseSender(text: string): Sender | undefined {
  if (text.length > MAX_SENDER) return undefined;
  const open = text.indexOf('<');
  if (open === -1) return addressed('', text);
  const name = unquoted(text.slice(0, open));
  if (!text.endsWith('>') || /["<>]/.test(name)) return undefined;
  return addressed(name, text.slice(open + 1, -1));
}

function addressed(name: string, address: string): Sender | undefined {
  const checked = checkAddress('email', address);
  if (!checked || name.length > MAX_NAME || /\p{Cc}/u.test(name)) return undefined;
  return { name: name.trim(), address: checked.delivery };
}

/** A name may stand in quotes; one of them alone is passed over. */
function unquoted(text: string): string {
  const bare = text.trimEnd();
  return bare.slice(bare.startsWith('"') ? 1 : 0, bare.length > 1 && bare.endsWith('"') ? -1 : undefined);
}

/** The domain of a mail sender, in lower case and A-labels. */
export function domainOf({ address }: Sender): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Whom a mail is from: the send's own sender, or the channel's. Undefined of other channels. */
export function mailSender(
  { channel, sender }: { readonly channel: Channel; readonly sender: string | null },
  { channels }: { readonly channels: Readonly<Partial<Record<Channel, { readonly from: Sender | null }>>> },
): Sender | undefined {
  if (channel !== 'email') return undefined;
  const own = sender === null ? undefined : parseSender(sender);
  return own ?? channels.email?.from ?? undefined;
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
