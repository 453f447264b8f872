import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { Channel } from '../addresses/channel.js';
import type { QuietHours } from '../calendar/quiet-hours.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { SecretBox } from '../secrets/secret-box.js';
import { parseSender, type ChannelDocument, type Sender, type SmtpChannel } from './channel-document.js';
import { placeOf } from './channel-secrets.js';
import { ChannelSettingsRepository, type StoredSettings } from './channel-settings.repository.js';

/** How a channel sends, secrets opened: for the gate alone. */
export interface ChannelPlan {
  readonly channel: Channel;
  readonly provider: 'smtp';
  readonly from: Sender;
  readonly replyTo: string | null;
  readonly maxPerSecond: number | undefined;
  readonly consentMode: 'opt_out' | 'opt_in';
  /** Names one way out; as long as it stays the same, connections are kept. */
  readonly transportKey: string;
  readonly smtp: {
    readonly host: string;
    readonly port: number;
    readonly security: 'none' | 'starttls' | 'tls';
    readonly username?: string;
    readonly password?: string;
    /** The platform's own server is the operator's choice; a customer's must be a public address. */
    readonly trusted: boolean;
  };
}

/** How an organization sends. */
export interface SendingPlan {
  readonly organizationId: string;
  readonly channels: Readonly<Partial<Record<Channel, ChannelPlan>>>;
  readonly quietHours: QuietHours | null;
  readonly caps: ChannelDocument['caps'];
  readonly topics: ChannelDocument['topics'];
}

/**
 * Settings as the gate needs them. Until an organization has settings of its own, local mode sends its mail to the
 * platform's server; in production it has no channel.
 */
@Injectable()
export class ChannelPlans {
  private readonly box: SecretBox;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly repository: ChannelSettingsRepository,
  ) {
    this.box = new SecretBox(config.encryptionKey);
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

  /** What an organization without settings is shown; undefined where it has no channel then. */
  defaultChannel(): SmtpChannel | undefined {
    const smtp = this.config.local ? this.config.platformSmtp : undefined;
    if (!smtp) return undefined;
    return {
      enabled: true,
      provider: 'smtp',
      from: smtp.from,
      max_per_second: 10_000,
      consent_mode: 'opt_out',
      host: smtp.host,
      port: smtp.port,
      security: smtp.security,
    };
  }

  private planOf(organizationId: string, stored: StoredSettings | undefined): SendingPlan {
    const email = stored ? this.configured(stored) : this.fallback();
    return {
      organizationId,
      channels: email ? { email } : {},
      quietHours: stored?.document.quiet_hours ?? null,
      caps: stored?.document.caps ?? [],
      topics: stored?.document.topics ?? [],
    };
  }

  private configured(stored: StoredSettings): ChannelPlan | undefined {
    const channel = stored.document.channels.email;
    if (!channel?.enabled) return undefined;
    const sealed = stored.secrets['email']?.['password'];
    return {
      ...this.common(channel),
      maxPerSecond: channel.max_per_second,
      transportKey: `${stored.organizationId}/email/${stored.version}`,
      smtp: {
        host: channel.host,
        port: channel.port,
        security: channel.security,
        ...(channel.username ? { username: channel.username } : {}),
        ...(sealed
          ? { password: this.box.open(sealed, placeOf(stored.organizationId, 'email', 'password')) }
          : {}),
        trusted: false,
      },
    };
  }

  private fallback(): ChannelPlan | undefined {
    const channel = this.defaultChannel();
    const smtp = this.config.platformSmtp;
    if (!channel || !smtp) return undefined;
    return {
      ...this.common(channel),
      maxPerSecond: undefined,
      transportKey: 'platform',
      smtp: { ...smtp, trusted: true },
    };
  }

  private common(channel: SmtpChannel) {
    return {
      channel: 'email' as const,
      provider: channel.provider,
      from: parseSender(channel.from) ?? { name: '', address: channel.from },
      replyTo: channel.reply_to ?? null,
      consentMode: channel.consent_mode,
    };
  }
}
