import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { checkAddress, type CheckedAddress } from '../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { identityMail } from './identity-mail-texts.js';
import type { LinkRef } from '../../vocabulary/sends/link-ref.js';
import { IdentityLinks, type IdentityLink } from './identity-links.js';
import { IdentityMailLimits } from './identity-mail-limits.js';
import {
  MESSAGING_CONFIG,
  type MessagingConfig,
  type PlatformSmtp,
} from '../../vocabulary/config/messaging.config.js';
import { suspendedAmong } from '../gate/batch-facts.js';
import type { ClaimedSend } from '../gate/claimed-send.js';
import { composeMail } from '../../providers/mail.js';
import type { DispatchDecision, ReadySend, SuppressionList } from '../gate/dispatch-decision.js';
import { SendPreparation } from '../gate/preparation.js';
import type { PreparedSend } from '../gate/prepared-sends.js';
import { identityPlan } from './identity-plan.js';

const ASK_AGAIN_MS = 5_000;
/** What says no end of its own waits so long for an identity that is silent. */
const PATIENCE_MS = 3_600_000;

/** A mail that can be written, and what identity says of it. */
interface Open {
  readonly send: ClaimedSend;
  readonly ref: LinkRef;
  readonly said: IdentityLink;
  readonly platformId: string;
  readonly address: CheckedAddress;
}

/**
 * Brings identity's mail before the gate: check → ask identity → take a place → write → compose. Nothing of an
 * organization's has a part in it, neither settings nor templates; it gives its name. Keeps nothing of what it is told.
 */
@Injectable()
export class IdentityPreparation extends SendPreparation {
  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly links: IdentityLinks,
    private readonly limits: IdentityMailLimits,
    private readonly keys: AddressKeys,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async begin(sends: readonly ClaimedSend[]): Promise<PreparedSend[]> {
    const now = this.clock.now();
    const organizationIds = [...new Set(sends.map(({ organizationId }) => organizationId))];
    const suspended = await this.database.acrossOrganizations((tx) => suspendedAmong(tx, organizationIds));
    return sends.map((send) => ({
      send,
      decision: this.decide(send, suspended.has(send.organizationId), now),
    }));
  }

  private async decide(send: ClaimedSend, suspended: boolean, now: Date): Promise<DispatchDecision> {
    const { recipient } = send;
    const smtp = this.config.identitySmtp;
    if (!('link' in recipient))
      return { kind: 'end', send, state: 'failed', reason: 'recipient_unreachable' };
    if (!smtp) return { kind: 'later', send, until: new Date(now.getTime() + ASK_AGAIN_MS) };
    if (send.expiresAt && send.expiresAt <= now)
      return { kind: 'end', send, state: 'failed', reason: 'expired' };
    // A password is the person's, whatever has become of their organization.
    if (suspended && recipient.link.kind === 'invitation') {
      return { kind: 'suspend', send };
    }
    const said = await this.ask(send, recipient.link);
    if (said === 'silent' || (said && said.platform_organization_id === undefined)) return waiting(send, now);
    if (!said) return { kind: 'end', send, state: 'canceled', reason: 'invalid_token' };
    const address = checkAddress('email', said.address);
    if (!address) return { kind: 'end', send, state: 'failed', reason: 'invalid_address' };
    const platformId = said.platform_organization_id ?? send.organizationId;
    const counted = { sendId: send.id, kind: recipient.link.kind, address, platformId };
    const until = await this.limits.take({ ...counted, tenantId: said.tenant_id ?? send.organizationId });
    if (until) return { kind: 'hold', send, until, reason: 'rate_limited' };
    return this.compose({ send, ref: recipient.link, said, platformId, address }, smtp, now);
  }

  private async ask(
    { organizationId }: ClaimedSend,
    ref: LinkRef,
  ): Promise<IdentityLink | 'silent' | undefined> {
    try {
      return await this.links.find(organizationId, ref);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      log.warn({ err: error }, 'Identity does not say where its mail goes; it waits');
      return 'silent';
    }
  }

  private async compose(open: Open, smtp: PlatformSmtp, date: Date): Promise<ReadySend> {
    const { send, ref, said, address } = open;
    const written = identityMail({
      kind: ref.kind === 'account' ? ref.about : (said.notice ?? said.about ?? ref.kind),
      locale: send.locale ?? said.locale ?? null,
      organizationName: said.organization_name,
      link: said.notice === undefined ? said.link : null,
      expiresAt: send.expiresAt ?? (said.expires_at === undefined ? null : new Date(said.expires_at)),
      ...(ref.kind === 'account' ? { at: new Date(ref.at), names: ref.names ?? [] } : {}),
    });
    const plan = identityPlan(smtp);
    const domain = smtp.from.slice(smtp.from.lastIndexOf('@') + 1);
    const messageId = send.providerMessageId ?? `<${send.id}@${domain}>`;
    const content = await composeMail({
      from: { name: '', address: smtp.from },
      replyTo: null,
      to: address.delivery,
      subject: written.subject,
      html: written.html,
      text: written.text,
      messageId,
      correlationId: send.correlationId ?? send.id,
      unsubscribeUrl: null,
      date,
    });
    const { organizationId, id: sendId } = send;
    return {
      kind: 'ready',
      send,
      plan,
      message: { organizationId, sendId, channel: 'email', to: address.delivery, from: smtp.from, content },
      keys: this.keys.of(organizationId, address),
      lists: this.listsOf(open),
      contactId: null,
      timezone: 'UTC',
      caps: [],
      // What it says is nobody's to read but the person's: of its content nothing is kept.
      subject: null,
      locale: written.locale,
      messageId,
    };
  }

  /** The platform's for all, and the inviting organization's for an invitation (messaging.md §3). */
  private listsOf({ send, ref, platformId, address }: Open): SuppressionList[] {
    const organizationIds = ref.kind === 'invitation' ? [send.organizationId, platformId] : [platformId];
    return [...new Set(organizationIds)].map((organizationId) => ({
      organizationId,
      keys: this.keys.of(organizationId, address).blocking,
    }));
  }
}

function waiting(send: ClaimedSend, now: Date): DispatchDecision {
  const since = send.waitingSince ?? now;
  const end = send.expiresAt ?? new Date(since.getTime() + PATIENCE_MS);
  return now < end
    ? { kind: 'later', send, until: new Date(now.getTime() + ASK_AGAIN_MS), since }
    : { kind: 'end', send, state: 'failed', reason: 'recipient_unreachable' };
}
