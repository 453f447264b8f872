import type { ClaimedSend } from '../claimed-send.js';
import type { ChannelPlan } from '../../channels/channel-plan.js';
import { senderOf, type Sender } from '../../channels/sender.js';
import type { RenderedMessage } from '../../templates/message-rendering.js';
import { composeMail } from './mail.js';
import { composeProviderMessage } from './provider-message.js';
import { composeTwilioMessage } from './twilio-message.js';
import { withUnsubscribeLink } from './unsubscribe-footer.js';

/** A rendered message with what it needs to become bytes. */
export interface Composition {
  readonly send: ClaimedSend;
  readonly plan: ChannelPlan;
  /** The checked address. */
  readonly to: string;
  readonly rendered: RenderedMessage;
  readonly unsubscribeUrl: string;
  readonly date: Date;
}

/** A message as it leaves. */
export interface Composed {
  readonly from: string;
  readonly content: Buffer;
  /** By which a report finds the send, until the provider says an id of its own. */
  readonly messageId: string;
}

/** The bytes of a message in the form its provider takes; nothing is decided after it. */
export async function compose(composition: Composition): Promise<Composed> {
  const { send, plan } = composition;
  const own = send.sender === null ? undefined : senderOf(send.channel, send.sender);
  const from = own ?? plan.from;
  return send.channel === 'email'
    ? composeEmail(composition, from ?? { name: '', address: '' })
    : composeOther(composition, from);
}

async function composeEmail(composition: Composition, from: Sender): Promise<Composed> {
  const { send, plan, to, rendered, date } = composition;
  const marketing = send.category === 'marketing';
  const unsubscribeUrl = marketing ? composition.unsubscribeUrl : null;
  const { html, text = '', subject = '' } = rendered.parts;
  const body = unsubscribeUrl
    ? withUnsubscribeLink({ html, text }, unsubscribeUrl, rendered.locale)
    : { html, text };
  // Set once and kept: whatever becomes of the settings, all attempts carry the same id.
  const messageId =
    send.providerMessageId ?? `<${send.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
  const correlationId = send.correlationId ?? send.id;
  if (plan.way.kind !== 'smtp') {
    const parts = { subject, text: body.text, ...(body.html === undefined ? {} : { html: body.html }) };
    const content = composeProviderMessage({
      ...commonOf(composition, from),
      replyTo: plan.replyTo,
      parts,
      messageId,
      unsubscribeUrl,
    });
    return { from: from.address, content, messageId };
  }
  const content = await composeMail({
    from,
    replyTo: plan.replyTo,
    to,
    subject,
    html: body.html,
    text: body.text,
    messageId,
    correlationId,
    unsubscribeUrl,
    date,
  });
  return { from: from.address, content, messageId };
}

function composeOther(composition: Composition, from: Sender | null): Composed {
  const { send, plan, to, rendered } = composition;
  const common = { from: from?.address ?? '', messageId: send.providerMessageId ?? send.id };
  if (plan.way.kind === 'twilio') {
    const content = composeTwilioMessage({
      sendId: send.id,
      channel: send.channel,
      to,
      from: from ?? { name: '', address: '' },
      parts: rendered.parts,
      data: send.data,
      webhookUrl: plan.webhookUrl ?? '',
    });
    return { ...common, content };
  }
  const content = composeProviderMessage({
    ...commonOf(composition, from),
    replyTo: null,
    parts: rendered.parts,
    messageId: null,
    unsubscribeUrl: null,
  });
  return { ...common, content };
}

function commonOf({ send, to }: Composition, from: Sender | null) {
  const { id: sendId, channel, topic, data } = send;
  return { sendId, channel, to, from, topic, data, correlationId: send.correlationId ?? send.id };
}
