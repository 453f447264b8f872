import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import type { NewSend } from '../sends/send.js';
import { SendsRepository } from '../sends/sends.repository.js';
import type { LinkKind } from './identity-links.js';

const KINDS = {
  'identity.invitation.created.v1': 'invitation',
  'identity.invitation.resent.v1': 'invitation',
  'identity.password.reset_requested.v1': 'password_reset',
} as const satisfies Record<string, LinkKind>;

/** An event of identity's that a person is written to for. */
export type MailedEvent = keyof typeof KINDS;

/** The events of identity's that a person is written to for. */
export const MAILED_EVENTS = Object.keys(KINDS) as MailedEvent[];

/**
 * Identity's own mail (identity.md §3): from an event to a send of the lane that no setting of an organization touches.
 * The send says which invitation or reset it is about, and neither address nor link: those are identity's to say when
 * the mail is written.
 */
@Injectable()
export class IdentityMail {
  constructor(
    private readonly database: Database,
    private readonly sends: SendsRepository,
    private readonly clock: Clock,
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
  ) {}

  /** One send an event, however often it is delivered. */
  async accept(events: readonly DomainEvent<MailedEvent>[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      const now = this.clock.now();
      for (const [organizationId, group] of Map.groupBy(events, (event) => event.organizationid)) {
        await tx.useOrganization(organizationId);
        await this.sends.add(
          tx,
          group.map((event) => this.sendOf(event, now)),
          now,
        );
      }
    });
  }

  private sendOf(
    { type, id, organizationid, correlationid, data }: DomainEvent<MailedEvent>,
    now: Date,
  ): NewSend {
    // Without the platform's mail server it waits, and is the first to leave once there is one.
    const held = this.config.identitySmtp === undefined;
    return {
      organizationId: organizationid,
      id: newId(),
      channel: 'email',
      state: held ? 'held' : 'accepted',
      reason: held ? 'channel_not_configured' : null,
      category: 'transactional',
      topic: null,
      contactId: null,
      recipient: { link: { kind: KINDS[type], id: data.id } },
      address: null,
      addressKey: null,
      sender: null,
      templateId: null,
      templateVersion: null,
      locale: 'locale' in data ? data.locale : null,
      source: 'identity',
      sourceId: data.id,
      runId: null,
      eventId: id,
      campaignId: null,
      metadata: null,
      correlationId: correlationid,
      dueAt: now,
      expiresAt: 'expires_at' in data ? new Date(data.expires_at) : null,
      data: {},
      event: null,
      content: null,
    };
  }
}
