import { z } from 'zod';
import { checkAddress } from '../addresses/address.js';
import type { Channel } from '../addresses/channel.js';
import { refuse } from '../shapes/refuse.js';
import { senderOf } from './sender.js';
import { isStandardSecret } from '../signatures/standard-webhooks.js';

const emailAddress = z
  .string()
  .max(254)
  .refine(
    (text) => checkAddress('email', text) !== undefined,
    refuse('invalid_address', 'Expected one bare address'),
  );

const host = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])$/i,
    'Expected a host name or address',
  );

/** Whether http is taken, and of which host, is decided where the mode is known. */
const url = z
  .string()
  .max(2_000)
  .refine(isWebAddress, 'Expected an https address without user, password or fragment');

/** Written as text, cleared by null, kept when absent or when given back as it was read. */
function secret(text: z.ZodType<string, string> = z.string().min(1).max(1_000)) {
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

const common = {
  enabled: z.boolean().default(true),
  max_per_second: z.int().min(1).max(10_000).default(50),
  consent_mode: z.enum(['opt_out', 'opt_in']).default('opt_out'),
  /** Read-only: taken because a document that was read may be put back, and never stored. */
  webhook_url: z.string().nullish(),
  /** Read-only, likewise. */
  misconfigured: z.unknown().optional(),
};

const mail = { ...common, from: sender('email'), reply_to: emailAddress.nullish() };

const smtp = z.strictObject({
  ...mail,
  provider: z.literal('smtp'),
  host,
  port: z.int().min(1).max(65_535).default(587),
  security: z.enum(['none', 'starttls', 'tls']).default('starttls'),
  username: z.string().min(1).max(320).nullish(),
  password: secret(),
});

const twilio = {
  provider: z.literal('twilio'),
  account_sid: z.string().regex(/^AC[0-9a-fA-F]{32}$/, 'Expected AC and 32 hex digits'),
  auth_token: secret(),
  base_url: url.default('https://api.twilio.com'),
};

const http = {
  provider: z.literal('http'),
  url,
  secret: secret(
    z
      .string()
      .max(1_000)
      .refine(isStandardSecret, 'Expected whsec_ and 24 to 64 bytes in base64, as Standard Webhooks has it'),
  ),
};

const inbox = z.strictObject({
  ...common,
  provider: z.literal('inbox').default('inbox'),
  from: sender('in_app').nullish(),
});

/** What each channel can be configured with (messaging.md §2). */
export const channelShapes = {
  email: z.discriminatedUnion('provider', [smtp, z.strictObject({ ...mail, ...http })]),
  sms: z.discriminatedUnion('provider', [
    z.strictObject({ ...common, from: sender('sms'), ...twilio }),
    z.strictObject({ ...common, from: sender('sms'), ...http }),
  ]),
  push: z.strictObject({ ...common, from: sender('push').nullish(), ...http }),
  whatsapp: z.discriminatedUnion('provider', [
    z.strictObject({ ...common, from: sender('whatsapp'), ...twilio }),
    z.strictObject({ ...common, from: sender('whatsapp'), ...http }),
  ]),
  in_app: z.discriminatedUnion('provider', [
    inbox,
    z.strictObject({ ...common, from: sender('in_app').nullish(), ...http }),
  ]),
} satisfies Record<Channel, z.ZodType>;

/** A channel as configured, secrets possibly still in it. */
export type ChannelSetting = z.output<(typeof channelShapes)[Channel]>;
/** E-mail by SMTP, as configured. */
export type SmtpSetting = Extract<ChannelSetting, { provider: 'smtp' }>;
/** By an HTTP provider, as configured. */
export type HttpSetting = Extract<ChannelSetting, { provider: 'http' }>;
/** How messages of a channel can leave. */
export type Provider = ChannelSetting['provider'];

/** The fields of each provider that are never read back. */
export const SECRET_FIELDS: Readonly<Record<Provider, readonly string[]>> = {
  smtp: ['password'],
  twilio: ['auth_token'],
  http: ['secret'],
  inbox: [],
};

/** Where a channel's secrets are sent to: a secret given for one host is never shown to another. */
export function hostOf(setting: ChannelSetting): string {
  switch (setting.provider) {
    case 'smtp':
      return setting.host.toLowerCase();
    case 'twilio':
      return new URL(setting.base_url).hostname;
    case 'http':
      return new URL(setting.url).hostname;
    case 'inbox':
      return '';
  }
}

function sender(channel: Channel) {
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
