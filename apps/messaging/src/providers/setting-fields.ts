import { z } from 'zod';
import { checkAddress } from '../vocabulary/addresses/address.js';
import type { Channel } from '../vocabulary/addresses/channel.js';
import { senderOf } from '../vocabulary/senders/sender.js';
import { refuse } from '../vocabulary/shapes/refuse.js';

/** One bare mail address. */
export const emailAddress = z
  .string()
  .max(254)
  .refine(
    (text) => checkAddress('email', text) !== undefined,
    refuse('invalid_address', 'Expected one bare address'),
  );

/** The name or literal address of a server. */
export const host = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])$/i,
    'Expected a host name or address',
  );

/** A web address. Whether http is taken, and of which host, is decided where the mode is known. */
export const webAddress = z
  .string()
  .max(2_000)
  .refine(isWebAddress, 'Expected an https address without user, password or fragment');

/** What a secret may be unless its provider knows better. */
export const anySecret: z.ZodType<string, string> = z.string().min(1).max(1_000);

/** What can stand in a header of HTTP and be read back as it was. */
export const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** A secret that is shown in a header: a line break that was pasted along is told here, and not by failed sends. */
export const headerSecret: z.ZodType<string, string> = z
  .string()
  .max(1_000)
  .regex(HEADER_TEXT, 'Expected visible ASCII characters, without spaces and line breaks');

/** An id as providers give them: letters, digits and a few marks, nothing that means something in a path. */
export function identifier(longest: number): z.ZodString {
  return z
    .string()
    .max(longest)
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/, 'Expected letters, digits, dots and hyphens');
}

/** Written as text, cleared by null, kept when absent or when given back as it was read. */
export function secretField(text: z.ZodType<string, string>) {
  return z
    .union([
      text,
      z.null(),
      z.strictObject({
        set: z.boolean(),
        fingerprint: z.string().nullable(),
        updated_at: z.string().nullable(),
      }),
    ])
    .optional();
}

/** Whom the messages of a channel are from. */
export function sender(channel: Channel) {
  const expected = channel === 'email' ? '`Name <address>` or an address' : 'a sender of the channel';
  return z
    .string()
    .max(400)
    .refine(
      (text) => senderOf(channel, text) !== undefined,
      refuse('invalid_address', `Expected ${expected}`),
    );
}

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
}

/** A path below a web address, whether that ends with a slash or not. */
export function below(base: string, path: string): URL {
  return new URL(`${base.replace(/\/$/, '')}${path}`);
}
