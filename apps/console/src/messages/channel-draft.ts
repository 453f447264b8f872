import type { Schemas } from '@customer-platform/client';
import type { Channel } from './vocabulary.ts';

export type ChannelSettings = Schemas['ChannelSettingsDto'];

/** One channel of the document, as it is read. */
export type ChannelSetting = Readonly<Record<string, unknown>>;

/** A secret as it is shown: never itself. */
interface ShownSecret {
  set: boolean;
  fingerprint: string | null;
  updated_at: string | null;
}

export interface Topic {
  key: string;
  name: string;
  channels: readonly Channel[];
  default: boolean;
}

export interface Cap {
  channel: Channel;
  limit: number;
  window: 'day' | 'week';
}

export const PROVIDERS = [
  'smtp',
  'mailgun',
  'ses',
  'twilio',
  'meta',
  'fcm',
  'apns',
  'webpush',
  'inbox',
  'http',
] as const;
export type Provider = (typeof PROVIDERS)[number];

/** By what each channel can be sent (messaging.md §2). */
export const PROVIDERS_OF: Record<Channel, readonly Provider[]> = {
  email: ['smtp', 'mailgun', 'ses', 'http'],
  sms: ['twilio', 'http'],
  push: ['fcm', 'apns', 'webpush', 'http'],
  whatsapp: ['meta', 'twilio', 'http'],
  in_app: ['inbox', 'http'],
};

export const CONSENT_MODES = ['opt_out', 'opt_in'] as const;

export interface ProviderField {
  name:
    | 'host'
    | 'port'
    | 'security'
    | 'username'
    | 'password'
    | 'auth'
    | 'client_id'
    | 'client_secret'
    | 'refresh_token'
    | 'scope'
    | 'account_sid'
    | 'auth_token'
    | 'base_url'
    | 'url'
    | 'secret'
    | 'domain'
    | 'region'
    | 'api_key'
    | 'signing_key'
    | 'access_key_id'
    | 'secret_access_key'
    | 'configuration_set'
    | 'topic_arn'
    | 'phone_number_id'
    | 'access_token'
    | 'app_secret'
    | 'verify_token'
    | 'token_url'
    | 'service_account'
    | 'team_id'
    | 'key_id'
    | 'topic'
    | 'environment'
    | 'private_key'
    | 'subject'
    | 'public_key';
  kind: 'text' | 'number' | 'secret' | 'choice';
  required?: boolean;
  initial?: string;
  /** Of a choice. */
  choices?: readonly (
    'starttls' | 'tls' | 'none' | 'us' | 'eu' | 'production' | 'sandbox' | 'password' | 'oauth2'
  )[];
  /** Of a secret that is a file: it has lines. */
  file?: boolean;
}

/** Where a provider has an address of its own unless another is said. */
const OWN_ADDRESS: ProviderField = { name: 'base_url', kind: 'text' };

/** What each provider has to be told. */
export const FIELDS_OF: Record<Provider, readonly ProviderField[]> = {
  smtp: [
    { name: 'host', kind: 'text', required: true },
    { name: 'port', kind: 'number', required: true, initial: '587' },
    { name: 'security', kind: 'choice', choices: ['starttls', 'tls', 'none'], initial: 'starttls' },
    { name: 'username', kind: 'text' },
    { name: 'auth', kind: 'choice', choices: ['password', 'oauth2'], initial: 'password' },
    { name: 'password', kind: 'secret' },
    { name: 'token_url', kind: 'text' },
    { name: 'scope', kind: 'text' },
    { name: 'client_id', kind: 'text' },
    { name: 'client_secret', kind: 'secret' },
    { name: 'refresh_token', kind: 'secret' },
    { name: 'service_account', kind: 'secret', file: true },
  ],
  twilio: [
    { name: 'account_sid', kind: 'text', required: true },
    { name: 'auth_token', kind: 'secret' },
    { name: 'base_url', kind: 'text', required: true, initial: 'https://api.twilio.com' },
  ],
  http: [
    { name: 'url', kind: 'text', required: true },
    { name: 'secret', kind: 'secret' },
  ],
  mailgun: [
    { name: 'domain', kind: 'text', required: true },
    { name: 'region', kind: 'choice', choices: ['us', 'eu'], initial: 'us' },
    { name: 'api_key', kind: 'secret' },
    { name: 'signing_key', kind: 'secret' },
    OWN_ADDRESS,
  ],
  ses: [
    { name: 'region', kind: 'text', required: true, initial: 'us-east-1' },
    { name: 'access_key_id', kind: 'text', required: true },
    { name: 'secret_access_key', kind: 'secret' },
    { name: 'configuration_set', kind: 'text' },
    { name: 'topic_arn', kind: 'text' },
    OWN_ADDRESS,
  ],
  meta: [
    { name: 'phone_number_id', kind: 'text', required: true },
    { name: 'access_token', kind: 'secret' },
    { name: 'app_secret', kind: 'secret' },
    { name: 'verify_token', kind: 'secret' },
    { ...OWN_ADDRESS, required: true, initial: 'https://graph.facebook.com' },
  ],
  fcm: [
    { name: 'service_account', kind: 'secret', file: true },
    { ...OWN_ADDRESS, required: true, initial: 'https://fcm.googleapis.com' },
    { name: 'token_url', kind: 'text', required: true, initial: 'https://oauth2.googleapis.com/token' },
  ],
  apns: [
    { name: 'team_id', kind: 'text', required: true },
    { name: 'key_id', kind: 'text', required: true },
    { name: 'topic', kind: 'text', required: true },
    { name: 'environment', kind: 'choice', choices: ['production', 'sandbox'], initial: 'production' },
    { name: 'private_key', kind: 'secret', file: true },
    OWN_ADDRESS,
  ],
  webpush: [
    { name: 'subject', kind: 'text', required: true },
    { name: 'public_key', kind: 'text', required: true },
    { name: 'private_key', kind: 'secret' },
  ],
  inbox: [],
};

/** Whether messages of a channel need a sender; Meta names it by its number's id. */
export function needsSender(channel: Channel, provider: Provider): boolean {
  return provider !== 'meta' && (channel === 'email' || channel === 'sms' || channel === 'whatsapp');
}

/** A channel as its form holds it. Secrets are written, never read. */
export interface ChannelDraft {
  enabled: boolean;
  provider: Provider;
  consentMode: (typeof CONSENT_MODES)[number];
  from: string;
  replyTo: string;
  maxPerSecond: string;
  /** What the provider has to be told, by the names of its fields. */
  fields: Readonly<Record<string, string>>;
  /** Secrets that are to be erased. */
  cleared: readonly string[];
}

export function newChannel(channel: Channel): ChannelDraft {
  const [provider = 'http'] = PROVIDERS_OF[channel];
  return {
    enabled: true,
    provider,
    consentMode: 'opt_out',
    from: '',
    replyTo: '',
    maxPerSecond: '50',
    fields: {},
    cleared: [],
  };
}

/** Undefined where a provider has it that this version does not know. */
export function draftOf(setting: ChannelSetting): ChannelDraft | undefined {
  const provider = PROVIDERS.find((each) => each === setting['provider']);
  if (provider === undefined) return undefined;
  const fields = FIELDS_OF[provider].filter(({ kind }) => kind !== 'secret');
  return {
    enabled: setting['enabled'] !== false,
    provider,
    consentMode: setting['consent_mode'] === 'opt_in' ? 'opt_in' : 'opt_out',
    from: textOf(setting['from']),
    replyTo: textOf(setting['reply_to']),
    maxPerSecond: textOf(setting['max_per_second'] ?? 50),
    fields: Object.fromEntries(fields.map(({ name }) => [name, textOf(setting[name])])),
    cleared: [],
  };
}

/** What the API takes: a secret that is not written stays, unless it goes with its provider or host. */
export function channelOf(channel: Channel, draft: ChannelDraft): Record<string, unknown> {
  const fields = FIELDS_OF[draft.provider].flatMap(({ name, kind, initial = '' }): [string, unknown][] => {
    const text = (draft.fields[name] ?? initial).trim();
    if (kind === 'secret')
      return text !== '' ? [[name, text]] : draft.cleared.includes(name) ? [[name, null]] : [];
    return [[name, kind === 'number' ? Number(text) : text === '' ? null : text]];
  });
  return {
    enabled: draft.enabled,
    provider: draft.provider,
    from: draft.from.trim() === '' ? null : draft.from.trim(),
    ...(channel === 'email' && { reply_to: draft.replyTo.trim() === '' ? null : draft.replyTo.trim() }),
    max_per_second: Number(draft.maxPerSecond),
    consent_mode: draft.consentMode,
    ...Object.fromEntries(fields),
  };
}

/** The secrets of a channel with whether each is set. */
export function secretsOf(setting: ChannelSetting): { name: string; secret: ShownSecret }[] {
  return Object.entries(setting).flatMap(([name, value]) =>
    isSecret(value) ? [{ name, secret: value }] : [],
  );
}

/** What the provider refuses the account for, and since when. */
export function refusalOf(
  setting: ChannelSetting,
): { since: string; stage: string; code: string } | undefined {
  const said = setting['misconfigured'] as { since: string; stage: string; code: unknown } | null | undefined;
  return said == null ? undefined : { ...said, code: String(said.code) };
}

function isSecret(value: unknown): value is ShownSecret {
  return typeof value === 'object' && value !== null && 'set' in value && 'fingerprint' in value;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** A channel of the document; undefined while it is not set up. */
export function settingOf({ channels }: ChannelSettings, channel: Channel): ChannelSetting | undefined {
  return channels[channel] as ChannelSetting | undefined;
}
