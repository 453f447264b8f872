import { Inject, Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, sameJson, type Transaction } from '@customer-platform/database';
import { etagOf, requireMatch, type RequestContext } from '@customer-platform/http';
import {
  DestinationNotAllowed,
  isAllowedPort,
  isLoopbackHost,
  resolveDestination,
} from '@customer-platform/outbound';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { PERMISSIONS_OF_CHANNELS } from '../../vocabulary/makers/carried-permissions.js';
import { toMadeByDto } from '../../vocabulary/makers/made-by.dto.js';
import { makerOf, type MadeRow } from '../../vocabulary/makers/maker.js';
import { MakerRights } from '../../background/makers/maker-rights.js';
import { demandPermissions } from '../../vocabulary/makers/reading-permissions.js';
import { SecretBox } from '../../vocabulary/secrets/secret-box.js';
import { readShape } from '../../vocabulary/shapes/read-shape.js';
import { VerifiedSenders } from '../sender-domains/verified-senders.js';
import { channelDocument, type ChannelDocument } from './channel-document.js';
import { ChannelFaults, type ShownFault } from './channel-faults.js';
import type { ChannelSetting, Destination, Provider } from '../../providers/provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { hostOf, mergeSecrets, showChannel, withoutSecrets } from './channel-secrets.js';
import {
  carriedByChannels,
  ChannelSettingsRepository,
  type StoredSettings,
} from './channel-settings.repository.js';
import { otherWays, printsOf, type ChannelWays } from './channel-ways.js';
import { channelsFrom, platformChannels, settingsOf } from './platform-channels.js';
import { parseSender } from '../../vocabulary/senders/sender.js';
import { WebhookKeys } from './webhook-keys.js';

/** The settings as they are answered, with the tag of their version. */
interface ShownSettings {
  readonly body: Record<string, unknown>;
  readonly etag: string;
}

/** The one document of an organization's channels (messaging.md §2). Secrets go in and never come out. */
@Injectable()
export class ChannelSettingsService {
  private readonly box: SecretBox;

  constructor(
    private readonly database: Database,
    private readonly repository: ChannelSettingsRepository,
    private readonly faults: ChannelFaults,
    private readonly webhookKeys: WebhookKeys,
    private readonly senders: VerifiedSenders,
    private readonly audit: Audit,
    private readonly clock: Clock,
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly providers: ProviderRegistry,
    private readonly makers: MakerRights,
  ) {
    this.box = new SecretBox(config.keyring);
  }

  /** What is configured, or the default an organization begins with. */
  async get(context: RequestContext): Promise<ShownSettings> {
    const { stored, faults } = await this.database.inOrganization(context, async (tx) => ({
      stored: await this.repository.find(tx),
      faults: await this.faults.shown(tx),
    }));
    return this.standing(this.show(context.organizationId, stored, faults), stored);
  }

  /**
   * Replaces the document: a channel left out is disabled and its secrets are erased.
   * @throws Problem `privilege_escalation`, `validation_failed`, `invalid_address`, `destination_not_allowed`, `sender_domain_unverified`,
   * `etag_mismatch`
   */
  async replace(context: RequestContext, body: object): Promise<ShownSettings> {
    const given = readShape(channelDocument(this.providers), body, '');
    const { adopt = false, maker: _maker, standing: _standing, ...document } = given;
    await this.checkDestinations(document);
    const stored = await this.database.inOrganization(context, async (tx) => {
      // Two first PUTs at once have no row to lock yet.
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `channels:${context.organizationId}`,
      ]);
      const previous = await this.repository.find(tx, true);
      requireMatch(context.ifMatch, this.show(context.organizationId, previous).etag);
      await this.checkSender(tx, document);
      const next = this.merge(context, previous, document, adopt);
      const version = await this.repository.save(tx, next, this.clock.now());
      await this.faults.forget(tx);
      await this.audit.record(tx, context, {
        action: 'messaging.channels.update',
        resource: { type: 'channels', id: context.organizationId },
        changedFields: changedFields(previous, next),
      });
      return { ...next, version };
    });
    return this.standing(this.show(context.organizationId, stored), stored);
  }

  private async checkSender(tx: Transaction, { channels }: ChannelDocument): Promise<void> {
    const sender = channels.email?.enabled ? parseSender(channels.email.from ?? '') : undefined;
    if (sender) await this.senders.demand(tx, sender, '/channels/email/from');
  }

  private merge(
    context: RequestContext,
    previous: StoredSettings | undefined,
    document: ChannelDocument,
    adopt: boolean,
  ): Omit<StoredSettings, 'version'> {
    const { organizationId } = context;
    const settings = settingsOf(document.channels);
    const now = this.clock.now();
    const secrets = settings.map(([channel, setting]) => {
      const given = { setting, provider: this.providerOf(setting) };
      return [channel, mergeSecrets(this.box, previous, { organizationId, channel }, given, now)] as const;
    });
    const channels = settings.map(
      ([channel, setting]) => [channel, withoutSecrets(setting, this.providerOf(setting))] as const,
    );
    const next = { channels: channelsFrom(channels), secrets: channelsFrom(secrets) };
    return {
      organizationId,
      document: { ...document, channels: next.channels },
      secrets: next.secrets,
      ...this.madeBy(context, previous, next, adopt),
    };
  }

  /** Who says to whose account messages go must be able to read them, and answers for that from then on. */
  private madeBy(
    context: RequestContext,
    previous: StoredSettings | undefined,
    next: ChannelWays,
    adopt: boolean,
  ): Pick<StoredSettings, 'makerType' | 'makerId' | 'makerSince'> {
    const channels = previous?.document.channels ?? platformChannels(this.config);
    if (!adopt && !otherWays({ channels, secrets: previous?.secrets ?? {} }, next)) {
      const { makerType = null, makerId = null, makerSince = null } = previous ?? {};
      return { makerType, makerId, makerSince };
    }
    demandPermissions(context, PERMISSIONS_OF_CHANNELS);
    return { ...makerOf(context), makerSince: this.clock.now() };
  }

  /** A host that leads into the platform's own network is refused now; it is checked again at every connection. */
  private async checkDestinations(document: ChannelDocument): Promise<void> {
    const errors = await Promise.all(
      settingsOf(document.channels).flatMap(([channel, setting]) =>
        this.providerOf(setting)
          .destinations(setting)
          .map((destination) => this.destinationError(channel, destination)),
      ),
    );
    const found = errors.flatMap((error) => error ?? []);
    if (found.length > 0) throw Problem.validation(found);
  }

  private async destinationError(
    channel: Channel,
    { field, address }: Destination,
  ): Promise<FieldError | undefined> {
    const pointer = `/channels/${channel}/${field}`;
    const host = hostOf(address);
    // As whoever connects reads it: `HTTP:` is plain, too. A name and a port of a server are no web address.
    const plain = address.replaceAll(/\s/g, '').toLowerCase().startsWith('http:');
    if (plain && !(this.config.local && isLoopbackHost(host))) {
      return { pointer, code: 'invalid_format', detail: 'Expected an https address.' };
    }
    if (!this.isCalledAt(address)) {
      const detail = 'The port must be 443 or 80, or one that this installation calls.';
      return { pointer, code: 'destination_not_allowed', detail };
    }
    try {
      await resolveDestination(host, this.config.local);
      return undefined;
    } catch (error) {
      // A name that does not resolve today may tomorrow; nothing is sent to it until then.
      if (!(error instanceof DestinationNotAllowed)) return undefined;
      const detail = 'The host must resolve to public addresses only.';
      return { pointer, code: 'destination_not_allowed', detail };
    }
  }

  /** Web addresses by their ports; a mail server has whichever it has. */
  private isCalledAt(address: string): boolean {
    const text = address.replaceAll(/\s/g, '');
    if (!/^https?:/i.test(text) || !URL.canParse(text)) return true;
    return isAllowedPort(new URL(text), {
      allowLoopback: this.config.local,
      ports: this.config.outboundPorts,
    });
  }

  /** Of a setting that was read by the providers' own shapes. */
  private providerOf({ provider: name }: ChannelSetting): Provider {
    const provider = this.providers.find(name);
    if (!provider) throw new TypeError(`There is no provider ${name}.`);
    return provider;
  }

  /** By whose rights messages leave, if anybody has said to whom. */
  private async standing(shown: ShownSettings, stored: StoredSettings | undefined): Promise<ShownSettings> {
    const standing =
      stored && this.isSomebodys(stored) ? await this.makers.standing(carriedByChannels(stored)) : null;
    const known = standing === 'unknown' ? null : standing;
    return { ...shown, body: { ...shown.body, maker: stored ? toMadeByDto(stored) : null, standing: known } };
  }

  /** The platform's own ways are nobody's. */
  private isSomebodys({ makerType, document, secrets }: StoredSettings): boolean {
    const platform = { channels: platformChannels(this.config), secrets: {} };
    return makerType !== null || otherWays(platform, { channels: document.channels, secrets });
  }

  private show(
    organizationId: string,
    stored: StoredSettings | undefined,
    faults: ReadonlyMap<Channel, ShownFault> = new Map(),
  ): ShownSettings {
    const channels = settingsOf(stored?.document.channels ?? platformChannels(this.config)).map(
      ([channel, setting]) => {
        const provider = this.providers.find(setting.provider);
        const webhookUrl = provider ? this.webhookKeys.urlOf({ organizationId, channel }, provider) : null;
        const derived = { channel, webhookUrl, fault: faults.get(channel) };
        return [channel, showChannel(setting, provider, stored?.secrets[channel], derived)] as const;
      },
    );
    const body = {
      channels: channelsFrom(channels),
      quiet_hours: stored?.document.quiet_hours ?? null,
      caps: stored?.document.caps ?? [],
      topics: stored?.document.topics ?? [],
    };
    return { body, etag: etagOf(stored?.version ?? 0) };
  }
}

/** Names `channels` for a secret, too, and `maker` where somebody else answers for them. */
function changedFields(
  before: StoredSettings | undefined,
  after: Omit<StoredSettings, 'version'>,
): readonly string[] {
  const fields = (['channels', 'quiet_hours', 'caps', 'topics'] as const).filter(
    (field) =>
      !sameJson(before?.document[field], after.document[field]) ||
      (field === 'channels' && !sameJson(printsOf(before?.secrets ?? {}), printsOf(after.secrets))),
  );
  return isMadeBy(before, after) ? fields : [...fields, 'maker'];
}

const isMadeBy = (before: MadeRow | undefined, { makerType, makerId }: MadeRow): boolean =>
  makerType === (before?.makerType ?? null) && makerId === (before?.makerId ?? null);
