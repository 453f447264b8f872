import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Carried } from '../../background/makers/maker-rights.js';
import type { MessageParts } from '../../providers/message-parts.js';
import type { TransportConfig } from '../../providers/transport-config.js';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { QuietHours } from '../../vocabulary/calendar/quiet-hours.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { SecretBox, UnreadableSecret, type SealedSecret } from '../../vocabulary/secrets/secret-box.js';
import type { Account, ChannelSetting, PlatformAccounts } from '../../providers/provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import type { ChannelDocument } from './channel-document.js';
import { placeOf } from './channel-secrets.js';
import {
  carriedByChannels,
  ChannelSettingsRepository,
  type StoredSettings,
} from './channel-settings.repository.js';
import { channelsFrom, platformChannels, settingsOf } from './platform-channels.js';
import { senderOf, type Sender } from '../../vocabulary/senders/sender.js';
import { WebhookKeys } from './webhook-keys.js';

const REMEMBERED_PLANS = 5_000;

/** How a channel sends, secrets opened: for the gate and for what its provider reports, and for nobody else. */
export interface ChannelPlan {
  readonly channel: Channel;
  /** Its name. */
  readonly provider: string;
  /** The bytes of a message in the form the provider takes. */
  readonly compose: (message: MessageParts) => Buffer | Promise<Buffer>;
  /** Null where the channel needs none. */
  readonly from: Sender | null;
  readonly replyTo: string | null;
  readonly maxPerSecond: number | undefined;
  readonly consentMode: 'opt_out' | 'opt_in';
  /** Names one way out; as long as it stays the same, connections are kept. */
  readonly transportKey: string;
  readonly way: TransportConfig;
  /** Of the settings that say so; 0 of the platform's own. */
  readonly version: number;
  /** Sent in the platform's own account: its provider reports without naming an organization. */
  readonly byPlatform: boolean;
  readonly webhookUrl: string | null;
}

/** How an organization sends. */
export interface SendingPlan {
  readonly organizationId: string;
  readonly channels: Readonly<Partial<Record<Channel, ChannelPlan>>>;
  /** Channels of which a secret does not open: what leaves by them waits. */
  readonly unreadable: readonly Channel[];
  readonly quietHours: QuietHours | null;
  readonly caps: ChannelDocument['caps'];
  readonly topics: ChannelDocument['topics'];
  /** By whose rights messages leave; undefined of the platform's own channels. */
  readonly carried?: Carried;
}

/** Whose channel it is, and the secrets it has of its own. */
interface Owner {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly version: number;
  readonly secrets: Readonly<Record<string, SealedSecret>>;
  /** Not configured by anybody: the platform's own. */
  readonly byDefault: boolean;
}

/** A channel, if it has this provider. */
export interface AccountPlace {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly provider: string;
}

/**
 * Settings as the gate needs them. Until an organization has settings of its own, local mode sends through the
 * platform's own providers; in production it has no channel.
 */
@Injectable()
export class ChannelPlans {
  private readonly box: SecretBox;
  private readonly made = new Map<string, { version: number; plan: SendingPlan }>();
  /** What the platform has of its own. */
  readonly platform: PlatformAccounts;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly repository: ChannelSettingsRepository,
    private readonly keys: WebhookKeys,
    private readonly providers: ProviderRegistry,
  ) {
    this.box = new SecretBox(config.keyring);
    const { local, platformSmtp, platformProvider } = config;
    this.platform = { local, smtp: platformSmtp, http: platformProvider };
  }

  /** Of one organization, in its own transaction. */
  async of(tx: Transaction): Promise<SendingPlan> {
    return this.planOf(tx.organizationId, await this.repository.find(tx));
  }

  /** Of several, in a worker's transaction. */
  async ofAll(tx: Transaction, organizationIds: readonly string[]): Promise<Map<string, SendingPlan>> {
    const stored = await this.repository.findAll(tx, organizationIds);
    const byId = new Map(stored.map((settings) => [settings.organizationId, settings]));
    return new Map(
      organizationIds.map((id) => {
        const settings = byId.get(id);
        const plan = this.planOf(id, settings);
        return [id, settings ? { ...plan, carried: carriedByChannels(settings) } : plan];
      }),
    );
  }

  /**
   * The accounts with whose secrets channels' providers sign their reports, in a worker's transaction; of a channel that
   * is switched off, too: what it sent before is still reported on. Undefined where the channel has no such provider.
   */
  async accountsOf(tx: Transaction, places: readonly AccountPlace[]): Promise<(Account | undefined)[]> {
    const organizationIds = [...new Set(places.map(({ organizationId }) => organizationId))];
    const stored = await this.repository.findAll(tx, organizationIds);
    const byId = new Map(stored.map((settings) => [settings.organizationId, settings]));
    return places.map((place) => this.accountAt(place, byId.get(place.organizationId)));
  }

  private accountAt(
    { organizationId, channel, provider }: AccountPlace,
    stored: StoredSettings | undefined,
  ): Account | undefined {
    const setting = (stored?.document.channels ?? platformChannels(this.config))[channel];
    return setting?.provider === provider
      ? this.accountOf(setting, ownerOf(organizationId, channel, stored))
      : undefined;
  }

  /** The one that was made of the same version, or a new one: secrets are opened once, not for each send. */
  private planOf(organizationId: string, stored: StoredSettings | undefined): SendingPlan {
    const version = stored?.version ?? 0;
    const known = this.made.get(organizationId);
    if (known?.version === version) return known.plan;
    const plan = this.makePlan(organizationId, stored);
    if (this.made.size >= REMEMBERED_PLANS) this.made.clear();
    this.made.set(organizationId, { version, plan });
    return plan;
  }

  private makePlan(organizationId: string, stored: StoredSettings | undefined): SendingPlan {
    const { document } = stored ?? {};
    const unreadable: Channel[] = [];
    const plans = settingsOf(document?.channels ?? platformChannels(this.config)).flatMap(
      ([channel, setting]) => {
        try {
          const plan = this.channelPlan(setting, ownerOf(organizationId, channel, stored));
          return plan ? [[channel, plan] as const] : [];
        } catch (error) {
          // One organization's secret is no reason for the others to wait.
          if (!(error instanceof UnreadableSecret)) throw error;
          log.error({ err: error, organizationId, channel }, 'A channel waits: its secret cannot be read');
          unreadable.push(channel);
          return [];
        }
      },
    );
    return {
      organizationId,
      channels: channelsFrom(plans),
      unreadable,
      quietHours: document?.quiet_hours ?? null,
      caps: document?.caps ?? [],
      topics: document?.topics ?? [],
    };
  }

  /** Undefined for a channel that is off, or lacks the secret without which its provider takes nothing. */
  private channelPlan(setting: ChannelSetting, owner: Owner): ChannelPlan | undefined {
    const provider = setting.enabled ? this.providers.find(setting.provider) : undefined;
    const way = provider?.open(this.accountOf(setting, owner));
    if (!provider || !way) return undefined;
    const { channel, byDefault, organizationId, version } = owner;
    return {
      channel,
      provider: provider.name,
      compose: (message) => provider.compose(message, setting),
      from: setting.from ? (senderOf(channel, setting.from) ?? { name: '', address: setting.from }) : null,
      replyTo: setting.reply_to ?? null,
      maxPerSecond: byDefault ? undefined : setting.max_per_second,
      consentMode: setting.consent_mode,
      transportKey: byDefault ? `platform/${channel}` : `${organizationId}/${channel}/${version}`,
      way,
      version,
      byPlatform: byDefault || (way.kind === 'http' && way.trusted),
      webhookUrl: this.keys.urlOf(owner, provider),
    };
  }

  private accountOf(setting: ChannelSetting, owner: Owner): Account {
    return {
      channel: owner.channel,
      setting,
      secret: (field) => this.open(owner, field),
      platform: this.platform,
      byDefault: owner.byDefault,
    };
  }

  private open({ secrets, organizationId, channel }: Owner, field: string): string | undefined {
    const sealed = secrets[field];
    return sealed && this.box.open(sealed, placeOf(organizationId, channel, field));
  }
}

function ownerOf(organizationId: string, channel: Channel, stored: StoredSettings | undefined): Owner {
  return {
    organizationId,
    channel,
    version: stored?.version ?? 0,
    secrets: stored?.secrets[channel] ?? {},
    byDefault: stored === undefined,
  };
}

/** @throws Problem `validation_failed`: a misspelt topic would pass everybody's preferences */
export function checkTopicAmong(topics: SendingPlan['topics'], topic: string, channel: Channel): void {
  if (topics.some(({ key, channels }) => key === topic && channels.includes(channel))) return;
  const known = topics.filter(({ channels }) => channels.includes(channel)).map(({ key }) => key);
  const detail =
    known.length > 0 ? `One of ${known.join(', ')}.` : 'channel-settings has no topic for this channel.';
  throw Problem.validation([{ pointer: '/topic', code: 'invalid_enum', detail }]);
}
