import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import type { NewSend } from '../../vocabulary/sends/send.js';
import { SendsRepository } from '../../dispatch/sends/sends.repository.js';
import type { AccountChange, LinkKind, LinkRef } from '../../vocabulary/sends/link-ref.js';

const LINKS = {
  'identity.invitation.created.v1': 'invitation',
  'identity.invitation.resent.v1': 'invitation',
  'identity.password.reset_requested.v1': 'password_reset',
} as const satisfies Record<string, LinkKind>;
const ACCOUNT_CHANGES = {
  'identity.password.changed.v1': 'password_changed',
  'identity.mfa_factor.confirmed.v1': 'factor_confirmed',
  'identity.mfa_factor.removed.v1': 'factor_removed',
  'identity.recovery_code.used.v1': 'recovery_code_used',
  'identity.recovery_code.replaced.v1': 'recovery_codes_replaced',
} as const satisfies Record<string, AccountChange>;

type LinkEvent = keyof typeof LINKS;
type AccountEvent = keyof typeof ACCOUNT_CHANGES;

/** Who reads of a change a day later can still do something about it; of an older one the mail would be noise. */
const TOLD_WITHIN_MS = 86_400_000;

/** An event of identity's that a person is written to for. */
export type MailedEvent = LinkEvent | AccountEvent;

/** The events of identity's that a person is written to for. */
export const MAILED_EVENTS = [...Object.keys(LINKS), ...Object.keys(ACCOUNT_CHANGES)] as MailedEvent[];

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

  /** One send an event that tells its user something, however often it is delivered. */
  async accept(delivered: readonly DomainEvent<MailedEvent>[]): Promise<void> {
    const events = delivered.filter((event) => !isToldWithAnother(event));
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

  private sendOf(event: DomainEvent<MailedEvent>, now: Date): NewSend {
    const { id, organizationid, correlationid, data } = event;
    const link = linkOf(event);
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
      recipient: { link },
      address: null,
      addressKey: null,
      sender: null,
      templateId: null,
      templateVersion: null,
      locale: 'locale' in data ? data.locale : null,
      source: 'identity',
      sourceId: link.id,
      runId: null,
      eventId: id,
      campaignId: null,
      metadata: null,
      correlationId: correlationid,
      dueAt: now,
      expiresAt: endOf(event),
      data: {},
      event: null,
      content: null,
    };
  }
}

function linkOf(event: DomainEvent<MailedEvent>): LinkRef {
  if (!isOfAccount(event)) return { kind: LINKS[event.type], id: event.data.id };
  const names = 'names' in event.data ? event.data.names : undefined;
  const of = { kind: 'account', id: event.data.user_id } as const;
  return { ...of, about: ACCOUNT_CHANGES[event.type], at: event.time, ...(names && { names }) };
}

/** Tells whether it is one of several factors that were removed at once, of which the first tells of all. */
function isToldWithAnother({ data }: DomainEvent<MailedEvent>): boolean {
  return 'names' in data && data.names?.length === 0;
}

/** Returns until when it is worth being mailed; null where identity says so when it is written. */
function endOf(event: DomainEvent<MailedEvent>): Date | null {
  if (isOfAccount(event)) return new Date(Date.parse(event.time) + TOLD_WITHIN_MS);
  return 'expires_at' in event.data ? new Date(event.data.expires_at) : null;
}

function isOfAccount(event: DomainEvent<MailedEvent>): event is DomainEvent<AccountEvent> {
  return event.type in ACCOUNT_CHANGES;
}
