import { Inject, Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database } from '@customer-platform/database';
import { etagOf, requireMatch, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { DestinationNotAllowed, resolveDestination } from '../network/destination.js';
import { SecretBox } from '../secrets/secret-box.js';
import { readShape } from '../shapes/read-shape.js';
import { channelDocument, type ChannelDocument } from './channel-document.js';
import { ChannelPlans } from './channel-plans.js';
import { mergeSecrets, showChannel, withoutSecrets } from './channel-secrets.js';
import { ChannelSettingsRepository, type StoredSettings } from './channel-settings.repository.js';

/** The settings as they are answered, with the tag of their version. */
export interface ShownSettings {
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
    private readonly plans: ChannelPlans,
    private readonly audit: Audit,
    private readonly clock: Clock,
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
  ) {
    this.box = new SecretBox(config.encryptionKey);
  }

  /** What is configured, or the default an organization begins with. */
  async get(context: RequestContext): Promise<ShownSettings> {
    const stored = await this.database.inOrganization(context, (tx) => this.repository.find(tx));
    return this.show(stored);
  }

  /**
   * Replaces the document: a channel left out is disabled and its secrets are erased.
   * @throws Problem `validation_failed`, `invalid_address`, `destination_not_allowed`, `etag_mismatch`
   */
  async replace(context: RequestContext, body: object): Promise<ShownSettings> {
    const document = readShape(channelDocument, body, '');
    await this.checkDestinations(document);
    const stored = await this.database.inOrganization(context, async (tx) => {
      // Two first PUTs at once have no row to lock yet.
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `channels:${context.organizationId}`,
      ]);
      const previous = await this.repository.find(tx, true);
      requireMatch(context.ifMatch, this.show(previous).etag);
      const next = this.merge(context.organizationId, previous, document);
      const version = await this.repository.save(tx, next, this.clock.now());
      await this.audit.record(tx, context, {
        action: 'messaging.channels.update',
        resource: { type: 'channels', id: context.organizationId },
        changedFields: changedFields(previous?.document, next.document),
      });
      return { ...next, version };
    });
    return this.show(stored);
  }

  private merge(
    organizationId: string,
    previous: StoredSettings | undefined,
    document: ChannelDocument,
  ): Omit<StoredSettings, 'version'> {
    const { email } = document.channels;
    const now = this.clock.now();
    return {
      organizationId,
      document: { ...document, channels: email ? { email: withoutSecrets(email) } : {} },
      secrets: email ? { email: mergeSecrets(this.box, previous, organizationId, 'email', email, now) } : {},
    };
  }

  /** A host that leads into the platform's own network is refused now; it is checked again at every connection. */
  private async checkDestinations(document: ChannelDocument): Promise<void> {
    const { email } = document.channels;
    if (!email) return;
    try {
      await resolveDestination(email.host, this.config.local);
    } catch (error) {
      // A name that does not resolve today may tomorrow; nothing is sent to it until then.
      if (!(error instanceof DestinationNotAllowed)) return;
      throw Problem.validation([
        {
          pointer: '/channels/email/host',
          code: 'destination_not_allowed',
          detail: 'The host must resolve to public addresses only.',
        },
      ]);
    }
  }

  private show(stored: StoredSettings | undefined): ShownSettings {
    const email = stored ? stored.document.channels.email : this.plans.defaultChannel();
    const body = {
      channels: email ? { email: showChannel(email, stored?.secrets['email']) } : {},
      quiet_hours: stored?.document.quiet_hours ?? null,
      caps: stored?.document.caps ?? [],
      topics: stored?.document.topics ?? [],
    };
    return { body, etag: etagOf(stored?.version ?? 0) };
  }
}

function changedFields(before: ChannelDocument | undefined, after: ChannelDocument): string[] {
  const fields = ['channels', 'quiet_hours', 'caps', 'topics'] as const;
  return fields.filter(
    (field) => JSON.stringify(before?.[field] ?? null) !== JSON.stringify(after[field] ?? null),
  );
}
