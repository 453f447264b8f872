import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { Channel } from '../addresses/channel.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { SecretBox, type SealedSecret } from '../secrets/secret-box.js';
import type { ChannelPlan, HttpWay, SendingPlan } from './channel-plan.js';
import type { ChannelSetting } from './channel-providers.js';
import { placeOf } from './channel-secrets.js';
import { ChannelSettingsRepository, type StoredSettings } from './channel-settings.repository.js';
import { channelsFrom, platformChannels, settingsOf } from './platform-channels.js';
import { senderOf } from './sender.js';
import { WebhookKeys } from './webhook-keys.js';

const REMEMBERED_PLANS = 5_000;

/** Whose channel it is, and the secrets it has of its own. */
interface Owner {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly version: number;
  readonly secrets: Readonly<Record<string, SealedSecret>>;
  /** Not configured by anybody: the platform's own. */
  readonly byDefault: boolean;
}

/** Where the secret of a channel's provider is, if the channel has that provider. */
export interface SecretPlace {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly provider: 'http' | 'twilio';
}

/**
 * Settings as the gate needs them. Until an organization has settings of its own, local mode sends through the
 * platform's own providers; in production it has no channel.
 */
@Injectable()
export class ChannelPlans {
  private readonly box: SecretBox;
  private readonly made = new Map<string, { version: number; plan: SendingPlan }>();

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly repository: ChannelSettingsRepository,
    private readonly keys: WebhookKeys,
  ) {
    this.box = new SecretBox(config.keyring);
  }

  /** Of one organization, in its own transaction. */
  async of(tx: Transaction): Promise<SendingPlan> {
    return this.planOf(tx.organizationId, await this.repository.find(tx));
  }

  /** Of several, in a worker's transaction. */
  async ofAll(tx: Transaction, organizationIds: readonly string[]): Promise<Map<string, SendingPlan>> {
    const stored = await this.repository.findAll(tx, organizationIds);
    const byId = new Map(stored.map((settings) => [settings.organizationId, settings]));
    return new Map(organizationIds.map((id) => [id, this.planOf(id, byId.get(id))]));
  }

  /**
   * The secrets by which channels' providers sign their reports, in a worker's transaction; of a channel that is
   * switched off, too: what it sent before is still reported on. Undefined where the channel has no such provider.
   */
  async secretsOf(tx: Transaction, places: readonly SecretPlace[]): Promise<(string | undefined)[]> {
    const organizationIds = [...new Set(places.map(({ organizationId }) => organizationId))];
    const stored = await this.repository.findAll(tx, organizationIds);
    const byId = new Map(stored.map((settings) => [settings.organizationId, settings]));
    return places.map((place) => this.secretOf(place, byId.get(place.organizationId)));
  }

  private secretOf(
    { organizationId, channel, provider }: SecretPlace,
    stored: StoredSettings | undefined,
  ): string | undefined {
    const setting = (stored?.document.channels ?? platformChannels(this.config))[channel];
    if (setting?.provider !== provider) return undefined;
    const way = this.wayOf(setting, {
      organizationId,
      channel,
      version: stored?.version ?? 0,
      secrets: stored?.secrets[channel] ?? {},
      byDefault: stored === undefined,
    });
    if (way?.kind === 'http') return way.secret;
    return way?.kind === 'twilio' ? way.authToken : undefined;
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
    const plans = settingsOf(document?.channels ?? platformChannels(this.config)).flatMap(
      ([channel, setting]) => {
        const plan = this.channelPlan(setting, {
          organizationId,
          channel,
          version: stored?.version ?? 0,
          secrets: stored?.secrets[channel] ?? {},
          byDefault: stored === undefined,
        });
        return plan ? [[channel, plan] as const] : [];
      },
    );
    return {
      organizationId,
      channels: channelsFrom(plans),
      quietHours: document?.quiet_hours ?? null,
      caps: document?.caps ?? [],
      topics: document?.topics ?? [],
    };
  }

  /** Undefined for a channel that is off, or lacks the secret without which its provider takes nothing. */
  private channelPlan(setting: ChannelSetting, owner: Owner): ChannelPlan | undefined {
    const way = setting.enabled ? this.wayOf(setting, owner) : undefined;
    if (!way) return undefined;
    const { channel, byDefault, organizationId, version } = owner;
    return {
      channel,
      provider: setting.provider,
      from: setting.from ? (senderOf(channel, setting.from) ?? { name: '', address: setting.from }) : null,
      replyTo: 'reply_to' in setting ? (setting.reply_to ?? null) : null,
      maxPerSecond: byDefault ? undefined : setting.max_per_second,
      consentMode: setting.consent_mode,
      transportKey: byDefault ? `platform/${channel}` : `${organizationId}/${channel}/${version}`,
      way,
      byPlatform: byDefault || (way.kind === 'http' && way.trusted),
      webhookUrl: this.keys.urlOf(owner, setting.provider),
    };
  }

  private wayOf(setting: ChannelSetting, owner: Owner): ChannelPlan['way'] | undefined {
    switch (setting.provider) {
      case 'smtp': {
        const { host, port, security, username } = setting;
        if (owner.byDefault && this.config.platformSmtp)
          return { kind: 'smtp', ...this.config.platformSmtp, trusted: true };
        const password = this.open(owner, 'password');
        return {
          kind: 'smtp',
          host,
          port,
          security,
          ...(username ? { username } : {}),
          ...(password === undefined ? {} : { password }),
          trusted: false,
        };
      }
      case 'twilio': {
        const authToken = this.open(owner, 'auth_token');
        const { account_sid: accountSid, base_url: baseUrl } = setting;
        return authToken === undefined ? undefined : { kind: 'twilio', accountSid, authToken, baseUrl };
      }
      case 'http':
        return this.httpWay(setting.url, this.open(owner, 'secret'));
      case 'inbox':
        return { kind: 'inbox', copyTo: this.platformWay() };
    }
  }

  /** Who puts back what local mode began with goes on in the platform's account: its secret is shown to nobody. */
  private httpWay(url: string, secret: string | undefined): HttpWay | undefined {
    if (secret !== undefined) return { kind: 'http', url, secret, trusted: false };
    const platform = this.platformWay();
    return platform?.url === url ? platform : undefined;
  }

  private platformWay(): HttpWay | undefined {
    const provider = this.config.local ? this.config.platformProvider : undefined;
    return provider && { kind: 'http', ...provider, trusted: true };
  }

  private open({ secrets, organizationId, channel }: Owner, field: string): string | undefined {
    const sealed = secrets[field];
    return sealed && this.box.open(sealed, placeOf(organizationId, channel, field));
  }
}
