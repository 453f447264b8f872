import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import { MessageRendering, type RenderedMessage } from '../../content/templates/message-rendering.js';
import { MailSigner } from '../../settings/sender-domains/mail-signer.js';
import { ReturnPaths } from '../../settings/sender-domains/return-paths.js';
import { UnsubscribeLinks } from '../../people/unsubscribe/unsubscribe-links.js';
import { CAMPAIGN_LANE } from '../../vocabulary/sends/send.js';
import { BatchReader, type BatchFacts } from './batch-facts.js';
import type { ClaimedSend } from './claimed-send.js';
import { compose } from '../composition/compose.js';
import { calendarOf, checkSend, type PassedSend } from './dispatch-checks.js';
import type { DispatchDecision, ReadySend } from './dispatch-decision.js';
import type { PreparedSend } from './prepared-sends.js';

/** Brings claimed sends before the gate, or says what else becomes of them. */
export abstract class SendPreparation {
  /** Reads what a batch needs, at once, and begins to prepare each send; one does not wait for another. */
  abstract begin(sends: readonly ClaimedSend[]): Promise<PreparedSend[]>;
}

/** Of what organizations send: read → check → render → compose. Changes nothing. */
@Injectable()
export class Preparation extends SendPreparation {
  constructor(
    private readonly reader: BatchReader,
    private readonly rendering: MessageRendering,
    private readonly links: UnsubscribeLinks,
    private readonly keys: AddressKeys,
    private readonly signer: MailSigner,
    private readonly returnPaths: ReturnPaths,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async begin(sends: readonly ClaimedSend[]): Promise<PreparedSend[]> {
    const facts = await this.reader.read(sends);
    const now = this.clock.now();
    return sends.map((send) => ({ send, decision: this.prepare(send, facts, now) }));
  }

  private async prepare(send: ClaimedSend, facts: BatchFacts, now: Date): Promise<DispatchDecision> {
    const checked = checkSend(send, facts, now);
    return checked.kind === 'passed' ? this.compose(checked, facts, now) : checked;
  }

  private async compose(passed: PassedSend, facts: BatchFacts, now: Date): Promise<DispatchDecision> {
    const { send } = passed;
    const template = send.content ?? facts.template(send);
    if (!template) return { kind: 'end', send, state: 'failed', reason: 'template_invalid' };
    const keys = this.keys.of(send.organizationId, passed.address);
    const unsubscribeUrl = this.links.urlOf({
      organizationId: send.organizationId,
      channel: send.channel,
      addressKey: keys.current,
      topic: send.topic,
    });
    try {
      const rendered = await this.rendering.render({
        organizationId: send.organizationId,
        template,
        channel: send.channel,
        data: send.data,
        locale: send.locale,
        contact: passed.contact?.profile,
        withholdsContact: send.withholdsContact === true,
        event: send.event,
        unsubscribeUrl,
        purpose: send.lane === CAMPAIGN_LANE ? 'campaign' : 'send',
      });
      const ready = await messageOf(passed, rendered, unsubscribeUrl, now);
      return { ...(await this.signed(ready, facts, now)), keys };
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      return { kind: 'end', send, state: 'failed', reason: error.reason.code };
    }
  }

  /** What a mail server carries is signed here and returns here; other providers sign by themselves what they compose. */
  private async signed(ready: Composed, facts: BatchFacts, now: Date): Promise<Composed> {
    const { plan, message, send } = ready;
    if (plan.way.kind !== 'smtp') return ready;
    const domain = facts.sender(send)?.domain;
    const from = this.returnPaths.of(send, { domain, byPlatform: plan.byPlatform }) ?? message.from;
    const content = domain ? await this.signer.sign(message.content, domain, now) : message.content;
    return { ...ready, message: { ...message, from, content } };
  }
}

/** All but the keys of the address. */
type Composed = Omit<ReadySend, 'keys'>;

async function messageOf(
  passed: PassedSend,
  rendered: RenderedMessage,
  unsubscribeUrl: string,
  date: Date,
): Promise<Composed> {
  const { send, plan, sending, contact, address } = passed;
  const to = address.delivery;
  const { from, content, messageId } = await compose({ send, plan, to, rendered, unsubscribeUrl, date });
  const { organizationId, id: sendId, channel } = send;
  return {
    kind: 'ready',
    send,
    plan,
    message: { organizationId, sendId, channel, to, from, content, patient: send.lane === CAMPAIGN_LANE },
    contactId: contact?.id ?? null,
    timezone: calendarOf(contact, sending),
    caps: sending.caps.filter((cap) => cap.channel === channel),
    // What lists show of a message without a subject is its title.
    subject: rendered.parts['subject'] || rendered.parts['title'] || null,
    locale: rendered.locale,
    messageId,
  };
}
