import { z } from 'zod';
import { checkAddress } from '../addresses/address.js';
import { CHANNELS } from '../addresses/channel.js';
import { isTimezone } from '../calendar/local-time.js';
import { minuteOfDay } from '../calendar/quiet-hours.js';
import { refuse } from '../shapes/refuse.js';

/** `Name <addr>` or the bare address. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** Reads a sender; undefined when it is not one. Used by settings and by each send's `from`. */
export function parseSender(text: string): Sender | undefined {
  const [, name = '', bracketed] = /^(?:"?([^"<>]*?)"?\s*)<([^<>]+)>$/.exec(text) ?? [];
  const checked = checkAddress('email', bracketed ?? text);
  if (!checked || name.length > 100 || /\p{Cc}/u.test(name)) return undefined;
  return { name: name.trim(), address: checked.delivery };
}

const sender = z
  .string()
  .max(400)
  .refine(
    (text) => parseSender(text) !== undefined,
    refuse('invalid_address', 'Expected `Name <address>` or an address'),
  );
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

/** Written as text, cleared by null, kept when absent or when given back as it was read. */
const secret = z
  .union([
    z.string().min(1).max(1_000),
    z.null(),
    z.strictObject({
      set: z.boolean(),
      fingerprint: z.string().nullable(),
      updated_at: z.string().nullable(),
    }),
  ])
  .optional();

const common = {
  enabled: z.boolean().default(true),
  from: sender,
  reply_to: emailAddress.nullish(),
  max_per_second: z.int().min(1).max(10_000).default(50),
  consent_mode: z.enum(['opt_out', 'opt_in']).default('opt_out'),
};

const smtp = z.strictObject({
  ...common,
  provider: z.literal('smtp'),
  host,
  port: z.int().min(1).max(65_535).default(587),
  security: z.enum(['none', 'starttls', 'tls']).default('starttls'),
  username: z.string().min(1).max(320).nullish(),
  password: secret,
});

const unavailable = z
  .unknown()
  .refine((value) => value === undefined, refuse('not_allowed', 'This channel cannot be configured'));

const quietHours = z.strictObject({
  start: timeOfDay(),
  end: timeOfDay(),
  timezone: z.string().refine(isTimezone, 'Expected an IANA time zone'),
});

const cap = z.strictObject({
  channel: z.enum(CHANNELS),
  limit: z.int().min(1).max(10_000),
  window: z.enum(['day', 'week']),
});

const topic = z.strictObject({
  key: z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'Expected a lower-case key'),
  name: z.string().min(1).max(100),
  channels: z.array(z.enum(CHANNELS)).min(1).max(CHANNELS.length),
  default: z.boolean(),
});

/** The whole document as PUT takes it. */
export const channelDocument = z.strictObject({
  channels: z.strictObject({
    email: smtp.optional(),
    sms: unavailable.optional(),
    push: unavailable.optional(),
    whatsapp: unavailable.optional(),
    in_app: unavailable.optional(),
  }),
  quiet_hours: quietHours.nullish(),
  caps: z
    .array(cap)
    .max(10)
    .default([])
    .superRefine(
      noDuplicates(
        ({ channel, window }) => `${channel} ${window}`,
        (index) => [index],
      ),
    ),
  topics: z
    .array(topic)
    .max(50)
    .default([])
    .superRefine(
      noDuplicates(
        ({ key }) => key,
        (index) => [index, 'key'],
      ),
    ),
});

/** A document that was read, secrets still in it. */
export type ChannelDocument = z.output<typeof channelDocument>;

/** E-mail by SMTP, as configured. */
export type SmtpChannel = z.output<typeof smtp>;

/** The fields of each provider that are never read back. */
export const SECRET_FIELDS = { smtp: ['password'] } as const;

function timeOfDay() {
  return z.string().refine((text) => minuteOfDay(text) !== undefined, 'Expected a time of day as HH:MM');
}

function noDuplicates<T>(keyOf: (item: T) => string, pathOf: (index: number) => (string | number)[]) {
  return (items: T[], context: z.RefinementCtx<T[]>): void => {
    items.forEach((item, index) => {
      if (items.findIndex((other) => keyOf(other) === keyOf(item)) === index) return;
      context.addIssue({
        code: 'custom',
        path: pathOf(index),
        ...refuse('duplicate_item', 'Stands there twice'),
      });
    });
  };
}
