import { isUuid } from '@customer-platform/database';
import { parseJsonBytes } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { answerOf, entryOf, idOf, listOf, objectOf, textOf, type Foreign } from '../answers.js';
import { deliveryFault } from '../delivery-fault.js';
import { isComplaint } from '../feedback-types.js';
import type { ProviderReport, ReportedEvent } from '../report.js';
import type { Webhook, WebhookCall } from '../webhook.js';
import { isOfSns, verifySns } from './sns-signature.js';

/** What is needed of its account. */
interface SesReporter {
  readonly setting: { readonly topic_arn?: string | null | undefined };
  readonly platform: { readonly local: boolean };
}

/** By `eventType` of event publishing, or `notificationType` of an identity. */
const EVENTS: Readonly<Record<string, ReportedEvent>> = {
  Delivery: 'delivered',
  DeliveryDelay: 'deferred',
  Bounce: 'bounced',
  Complaint: 'complained',
  Open: 'opened',
  Click: 'clicked',
  Reject: 'failed',
  'Rendering Failure': 'failed',
};

/**
 * SES by a topic of SNS. Everybody's topics are signed by the same certificates: only the channel's own `topic_arn`
 * counts, and only it is subscribed to.
 */
export const sesWebhook: Webhook<SesReporter> = {
  async verify(call, { setting, platform }, tools) {
    const message = messageOf(call);
    const topic = textOf(message['TopicArn']);
    if (topic === '' || topic !== setting.topic_arn) throw new Problem('invalid_signature');
    await verifySns(message, { now: call.now, local: platform.local }, tools);
  },
  async confirm(call, { platform }, { fetch: ask }) {
    const { Type: type, SubscribeURL: url } = messageOf(call);
    if (type !== 'SubscriptionConfirmation') return;
    const address = textOf(url);
    const confirms =
      isOfSns(address, platform.local) &&
      new URL(address).searchParams.get('Action') === 'ConfirmSubscription';
    if (!confirms) throw new Problem('invalid_signature');
    const confirmed = await ask(address).then(
      ({ ok }) => ok,
      () => false,
    );
    // SNS asks again.
    if (!confirmed) throw new Problem('dependency_unavailable');
  },
  read(call) {
    const message = messageOf(call);
    return message['Type'] === 'Notification' ? reportOf(answerOf(textOf(message['Message'])), call.now) : [];
  },
};

/** What is no JSON has no signature in it. @throws Problem `invalid_signature` */
function messageOf({ body }: WebhookCall): Foreign {
  try {
    return objectOf(parseJsonBytes(body));
  } catch (error) {
    if (error instanceof Problem) throw new Problem('invalid_signature');
    throw error;
  }
}

function reportOf(said: Foreign, now: Date): ProviderReport[] {
  const kind = textOf(said['eventType'] ?? said['notificationType']);
  const event = entryOf(EVENTS, kind);
  const mail = objectOf(said['mail']);
  const messageId = idOf(mail['messageId']);
  if (event === undefined || messageId === undefined) return [];
  const part = objectOf(said[kind.charAt(0).toLowerCase() + kind.slice(1)]);
  const [named = ''] = listOfTexts(objectOf(mail['tags'])['send']);
  // Reporters of a mailbox that say no type mean spam.
  const feedbackType = textOf(part['complaintFeedbackType']);
  if (event === 'complained' && feedbackType !== '' && !isComplaint(feedbackType)) return [];
  return [
    {
      messageId,
      event,
      eventId: idOf(part['feedbackId']) ?? null,
      bounceType: event === 'bounced' ? bounceTypeOf(part) : null,
      occurredAt: instantOf(part['timestamp'], now),
      namedSend: isUuid(named) ? named : null,
      stopOf: null,
    },
  ];
}

/** Of the one recipient that a mail of ours has: what its server said, else what SES makes of it. */
function bounceTypeOf(bounce: Foreign): 'hard' | 'soft' {
  const [recipient = {}] = listOf(bounce['bouncedRecipients']);
  const said = { status: textOf(recipient['status']), text: textOf(recipient['diagnosticCode']) };
  const fault = deliveryFault(said);
  const isHard = fault === undefined ? bounce['bounceType'] === 'Permanent' : fault === 'recipient';
  return isHard ? 'hard' : 'soft';
}

function listOfTexts(given: unknown): string[] {
  return Array.isArray(given) ? given.map(textOf) : [];
}

function instantOf(given: unknown, now: Date): Date {
  const at = new Date(textOf(given));
  return at.getTime() > 0 && at.getUTCFullYear() < 3_000 ? at : now;
}
