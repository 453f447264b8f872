import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { AddressKeys } from '../addresses/address-keys.provider.js';
import { parseSender } from '../channels/channel-document.js';
import { RenderFailure } from '../rendering/renderer.js';
import { MessageRendering, type RenderedMessage } from '../templates/message-rendering.js';
import { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.js';
import { BatchReader, type BatchFacts } from './batch-facts.js';
import type { ClaimedSend } from './claimed-send.js';
import { composeMail } from './composition/mail.js';
import { withUnsubscribeLink } from './composition/unsubscribe-footer.js';
import { calendarOf, checkSend, type PassedSend } from './dispatch-checks.js';
import type { DispatchDecision, ReadySend } from './dispatch-decision.js';

/** Brings claimed sends before the gate: read → check → render → compose. Changes nothing. */
@Injectable()
export class Preparation {
  constructor(
    private readonly reader: BatchReader,
    private readonly rendering: MessageRendering,
    private readonly links: UnsubscribeLinks,
    private readonly keys: AddressKeys,
    private readonly clock: Clock,
  ) {}

  async prepare(sends: readonly ClaimedSend[]): Promise<DispatchDecision[]> {
    const facts = await this.reader.read(sends);
    const now = this.clock.now();
    return Promise.all(
      sends.map(async (send) => {
        const checked = checkSend(send, facts, now);
        return checked.kind === 'passed' ? this.compose(checked, facts, now) : checked;
      }),
    );
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
        template,
        data: send.data,
        locale: send.locale,
        contact: passed.contact?.profile,
        event: send.event,
        unsubscribeUrl,
      });
      return { ...(await mailOf(passed, rendered, unsubscribeUrl, now)), keys };
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      return { kind: 'end', send, state: 'failed', reason: error.reason.code };
    }
  }
}

async function mailOf(
  passed: PassedSend,
  rendered: RenderedMessage,
  unsubscribeUrl: string,
  date: Date,
): Promise<Omit<ReadySend, 'keys'>> {
  const { send, plan, sending, contact, address } = passed;
  const from = (send.sender === null ? undefined : parseSender(send.sender)) ?? plan.from;
  // Set once and kept: whatever becomes of the settings, all attempts carry the same id.
  const messageId =
    send.providerMessageId ?? `<${send.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
  const marketing = send.category === 'marketing';
  const { html, text = '', subject = '' } = rendered.parts;
  const body = marketing
    ? withUnsubscribeLink({ html, text }, unsubscribeUrl, rendered.locale)
    : { html, text };
  const content = await composeMail({
    from,
    replyTo: plan.replyTo,
    to: address.delivery,
    subject,
    html: body.html,
    text: body.text,
    messageId,
    correlationId: send.correlationId ?? send.id,
    unsubscribeUrl: marketing ? unsubscribeUrl : null,
    date,
  });
  return {
    kind: 'ready',
    send,
    plan,
    message: { sendId: send.id, channel: send.channel, to: address.delivery, from: from.address, content },
    contactId: contact?.id ?? null,
    timezone: calendarOf(contact, sending),
    caps: sending.caps.filter(({ channel }) => channel === send.channel),
    subject: subject === '' ? null : subject,
    locale: rendered.locale,
    messageId,
  };
}
