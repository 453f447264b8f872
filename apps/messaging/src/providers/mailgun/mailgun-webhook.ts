import { createHmac } from 'node:crypto';
import { isUuid } from '@customer-platform/database';
import { parseJsonBytes } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { equalInConstantTime } from '../../vocabulary/signatures/constant-time.js';
import { entryOf, idOf, objectOf, textOf, timeOf, type Foreign } from '../answers.js';
import { deliveryFault } from '../delivery-fault.js';
import type { ProviderReport } from '../report.js';
import { requireFresh, secretOf, type Webhook } from '../webhook.js';

/** What is needed of its account. */
interface MailgunAccount {
  secret(field: 'signing_key'): string | undefined;
}

type Said = Pick<ProviderReport, 'event' | 'bounceType'>;

/** What Mailgun's own list of suppressions says of an address it did not try. */
const NOT_TRIED: Readonly<Record<string, Said>> = {
  'suppress-bounce': { event: 'bounced', bounceType: 'hard' },
  'suppress-complaint': { event: 'complained', bounceType: null },
  'suppress-unsubscribe': { event: 'stopped', bounceType: null },
};
const SAID: Readonly<Record<string, Said>> = {
  delivered: { event: 'delivered', bounceType: null },
  opened: { event: 'opened', bounceType: null },
  clicked: { event: 'clicked', bounceType: null },
  complained: { event: 'complained', bounceType: null },
  unsubscribed: { event: 'stopped', bounceType: null },
  rejected: { event: 'failed', bounceType: null },
};

/**
 * Mailgun: SHA-256 over a time and a token, in the body, which itself nothing signs. So a token is good for one body:
 * whoever has seen a call can repeat it, and say nothing else by it.
 */
export const mailgunWebhook: Webhook<MailgunAccount> = {
  verify(call, account) {
    const { timestamp, token, signature } = signatureOf(call.body);
    const mac = createHmac('sha256', secretOf(account, 'signing_key'))
      .update(timestamp + token)
      .digest('hex');
    if (token === '' || !equalInConstantTime(signature, mac)) throw new Problem('invalid_signature');
    requireFresh(timestamp, call.now);
  },
  usedOnce: ({ body }) => signatureOf(body).token,
  read({ body, now }) {
    const event = objectOf(objectOf(parseJsonBytes(body))['event-data']);
    const id = idOf(objectOf(objectOf(event['message'])['headers'])['message-id']);
    const said = saidBy(event);
    if (id === undefined || said === undefined) return [];
    const named = textOf(objectOf(event['user-variables'])['send']).toLowerCase();
    return [
      {
        ...said,
        messageId: id.startsWith('<') ? id : `<${id}>`,
        eventId: idOf(event['id']) ?? null,
        occurredAt: timeOf(event['timestamp'], now),
        namedSend: isUuid(named) ? named : null,
        stopOf: null,
      },
    ];
  },
};

function signatureOf(body: Buffer): { timestamp: string; token: string; signature: string } {
  const { timestamp, token, signature } = objectOf(objectOf(parsed(body))['signature']);
  return { timestamp: textOf(timestamp), token: textOf(token), signature: textOf(signature) };
}

/** What is no JSON has no signature in it. @throws Problem `invalid_signature` */
function parsed(body: Buffer): unknown {
  try {
    return parseJsonBytes(body);
  } catch (error) {
    if (error instanceof Problem) throw new Problem('invalid_signature');
    throw error;
  }
}

/** A failure that is not for good is tried again by Mailgun; one for good is hard where it is the address that bounced. */
function saidBy(event: Foreign): Said | undefined {
  const kind = textOf(event['event']);
  if (kind !== 'failed') return entryOf(SAID, kind);
  if (event['severity'] !== 'permanent') return { event: 'deferred', bounceType: null };
  return entryOf(NOT_TRIED, textOf(event['reason'])) ?? { event: 'bounced', bounceType: bounceTypeOf(event) };
}

/** By what the recipient's server said, else by what Mailgun makes of it. */
function bounceTypeOf(event: Foreign): 'hard' | 'soft' {
  const status = objectOf(event['delivery-status']);
  const text = [status['code'], status['message'], status['description']].map(textOf).join(' ');
  const fault = deliveryFault({ status: textOf(status['enhanced-code']), text });
  if (fault !== undefined) return fault === 'recipient' ? 'hard' : 'soft';
  return event['reason'] === 'bounce' && status['bounce-type'] !== 'soft' ? 'hard' : 'soft';
}
