import type { z } from 'zod';
import type { Channel } from '../vocabulary/addresses/channel.js';
import type { PlatformProvider, PlatformSmtp } from '../vocabulary/config/messaging.config.js';
import type { MessageParts } from './message-parts.js';
import type { Webhook } from './webhook.js';
import type { TransportConfig } from './transport-config.js';

/** A channel as configured, its provider's own fields flat in it; without secrets unless it has just been written. */
export interface ChannelSetting {
  readonly enabled: boolean;
  readonly provider: string;
  readonly max_per_second: number;
  readonly consent_mode: 'opt_out' | 'opt_in';
  readonly from?: string | null | undefined;
  readonly reply_to?: string | null | undefined;
  readonly [field: string]: unknown;
}

/** A channel's setting with the fields of one provider. */
type SettingOf<Fields extends z.ZodRawShape> = ChannelSetting & z.output<z.ZodObject<Fields>>;

/** What the platform has of its own. */
export interface PlatformAccounts {
  readonly local: boolean;
  readonly smtp: PlatformSmtp | undefined;
  readonly http: PlatformProvider | undefined;
}

/** An account with a provider: a channel of an organization, secrets opened. */
export interface Account<Fields extends z.ZodRawShape = z.ZodRawShape, Secret extends string = string> {
  readonly channel: Channel;
  readonly setting: SettingOf<Fields>;
  /** Undefined while it is not set. */
  secret(this: void, field: Secret): string | undefined;
  readonly platform: PlatformAccounts;
  /** Configured by nobody: what local mode begins with. */
  readonly byDefault: boolean;
}

/** Where a provider is: the field that says it, and a host or a web address. */
export interface Destination {
  readonly field: string;
  readonly address: string;
}

/**
 * All there is to know of one provider (docs/providers.md): what is configured and what of it is secret, how a message
 * is written and handed over, what answers and errors mean, how its reports are signed and read.
 */
export interface Provider<Fields extends z.ZodRawShape = z.ZodRawShape, Secret extends string = string> {
  /** As `provider` names it in the settings. */
  readonly name: string;
  readonly channels: readonly Channel[];
  /** Its own fields, flat in the channel. */
  readonly fields: Fields;
  /** Fields that are never read back, each with what it may be. */
  readonly secrets: Readonly<Record<Secret, z.ZodType<string, string>>>;
  /** Whether a channel can do without `from`; unless said, push and in_app can. */
  readonly fromIsOptional?: boolean;
  /**
   * Where secrets and messages go, all of it: it must be public and, of a web address, https; a secret that was given
   * for one host is never shown to another.
   */
  destinations(setting: SettingOf<Fields>): readonly Destination[];
  /** Undefined where it lacks something without which it takes nothing: the channel is not configured then. */
  open(account: Account<Fields, NoInfer<Secret>>): TransportConfig | undefined;
  /** The bytes of a message in the form it takes. */
  compose(message: MessageParts, setting: SettingOf<Fields>): Buffer | Promise<Buffer>;
  /** By the name in the path of `POST /v1/messaging/webhooks/{name}`; the first is the one of `webhook_url`. */
  readonly webhooks: Readonly<Record<string, Webhook<Account<Fields, NoInfer<Secret>>>>>;
  /** The account of the platform's own in which reports come that name no organization. */
  ofPlatform?(platform: PlatformAccounts): Account<Fields, NoInfer<Secret>> | undefined;
}

/** One provider; its fields and secrets are typed where it is written, and text where all are listed. */
export function defineProvider<Fields extends z.ZodRawShape, Secret extends string>(
  provider: Provider<Fields, Secret>,
): Provider<Fields, Secret> {
  return provider;
}
