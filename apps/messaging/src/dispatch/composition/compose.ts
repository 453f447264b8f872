import type { ClaimedSend } from '../gate/claimed-send.js';
import type { ChannelPlan } from '../../settings/channels/channel-plans.js';
import { senderOf, type Sender } from '../../vocabulary/senders/sender.js';
import type { RenderedMessage } from '../../content/templates/message-rendering.js';
import { inLines } from '../../providers/mail.js';
import { withUnsubscribeLink } from '../../vocabulary/mail/unsubscribe-footer.js';

/** A rendered message with what it needs to become bytes. */
interface Composition {
  readonly send: ClaimedSend;
  readonly plan: ChannelPlan;
  /** The checked address. */
  readonly to: string;
  readonly rendered: RenderedMessage;
  readonly unsubscribeUrl: string;
  readonly date: Date;
}

/** A message as it leaves. */
interface Composed {
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
  const { send, plan, rendered } = composition;
  const marketing = send.category === 'marketing';
  const unsubscribeUrl = marketing ? composition.unsubscribeUrl : null;
  const { html, text = '', subject = '' } = rendered.parts;
  const body = unsubscribeUrl
    ? withUnsubscribeLink({ html, text }, unsubscribeUrl, rendered.locale)
    : { html, text };
  // Set once and kept: whatever becomes of the settings, all attempts carry the same id.
  const messageId =
    send.providerMessageId ?? `<${send.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
  const content = await plan.compose({
    ...commonOf(composition, from),
    replyTo: plan.replyTo,
    // Providers that write the mail themselves, too, get no line end but CR LF.
    parts: {
      subject,
      text: inLines(body.text),
      ...(body.html === undefined ? {} : { html: inLines(body.html) }),
    },
    messageId,
    unsubscribeUrl,
  });
  return { from: from.address, content, messageId };
}

async function composeOther(composition: Composition, from: Sender | null): Promise<Composed> {
  const { send, plan, rendered } = composition;
  const content = await plan.compose({
    ...commonOf(composition, from),
    replyTo: null,
    parts: rendered.parts,
    messageId: null,
    unsubscribeUrl: null,
  });
  return { from: from?.address ?? '', messageId: send.providerMessageId ?? send.id, content };
}

function commonOf({ send, plan, to, date }: Composition, from: Sender | null) {
  const { id: sendId, channel, topic, data } = send;
  const { webhookUrl } = plan;
  return {
    sendId,
    channel,
    to,
    from,
    topic,
    data,
    webhookUrl,
    date,
    correlationId: send.correlationId ?? send.id,
  };
}
