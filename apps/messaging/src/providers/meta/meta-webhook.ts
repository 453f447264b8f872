import { createHmac } from 'node:crypto';
import { isUuid } from '@customer-platform/database';
import { parseJsonBytes } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { equalInConstantTime } from '../../vocabulary/signatures/constant-time.js';
import { entryOf, idOf, listOf, objectOf, textOf, timeOf, type Foreign } from '../answers.js';
import type { ProviderReport, ReportedEvent } from '../report.js';
import { isOptOutKeyword } from '../opt-out-keywords.js';
import { headerOf, secretOf, type Webhook } from '../webhook.js';

/** What Meta tells of a message; `sent` says nothing that is not known. */
const EVENTS: Readonly<Record<string, ReportedEvent>> = {
  delivered: 'delivered',
  read: 'opened',
  failed: 'failed',
};
/** Nobody can be reached there: not on WhatsApp, or not in a way that takes messages. It does not say which. */
const UNDELIVERABLE = '131026';
/** The recipient has told Meta to stop marketing. */
const STOPPED = '131050';

/** What is needed of its account. */
interface MetaAccount {
  readonly setting: { readonly phone_number_id: string };
  secret(field: 'app_secret' | 'verify_token'): string | undefined;
}

/**
 * WhatsApp's Cloud API: SHA-256 over the body. It signs no time, and repeats for days what was not taken; the ids of its
 * messages make repeats known.
 */
export const metaWebhook: Webhook<MetaAccount> = {
  verify(call, account) {
    const mac = createHmac('sha256', secretOf(account, 'app_secret')).update(call.body).digest('hex');
    if (!equalInConstantTime(headerOf(call, 'x-hub-signature-256'), `sha256=${mac}`))
      throw new Problem('invalid_signature');
  },
  read({ body, now }, { setting }) {
    const values = listOf(objectOf(parseJsonBytes(body))['entry'])
      .flatMap(({ changes }) => listOf(changes))
      .filter(({ field }) => field === 'messages')
      .map(({ value }) => objectOf(value))
      // One application may serve several numbers; another channel's are its own to report.
      .filter(({ metadata }) => textOf(objectOf(metadata)['phone_number_id']) === setting.phone_number_id);
    return values.flatMap(({ statuses, messages }) => [
      ...listOf(statuses).flatMap((status) => statusOf(status, now)),
      ...listOf(messages).flatMap((message) => stopOf(message, now)),
    ]);
  },
  challenge(query, account) {
    const challenge = query.get('hub.challenge') ?? '';
    const known = equalInConstantTime(query.get('hub.verify_token') ?? '', secretOf(account, 'verify_token'));
    if (!known || query.get('hub.mode') !== 'subscribe' || !/^[\w.~-]{1,255}$/.test(challenge))
      throw new Problem('invalid_signature');
    return challenge;
  },
};

function statusOf(given: Foreign, now: Date): ProviderReport[] {
  const messageId = idOf(given['id']);
  const [error = {}] = listOf(given['errors']);
  const code = textOf(error['code']);
  const event = code === STOPPED ? 'stopped' : entryOf(EVENTS, textOf(given['status']));
  if (messageId === undefined || event === undefined) return [];
  const named = textOf(given['biz_opaque_callback_data']).toLowerCase();
  const bounced = event === 'failed' && code === UNDELIVERABLE;
  return [
    {
      messageId,
      event: bounced ? 'bounced' : event,
      eventId: null,
      bounceType: bounced ? 'soft' : null,
      occurredAt: timeOf(given['timestamp'], now),
      namedSend: isUuid(named) ? named : null,
      stopOf: null,
    },
  ];
}

/** Somebody wrote to the number, and what they wrote is a wish to be left alone. */
function stopOf(given: Foreign, now: Date): ProviderReport[] {
  const messageId = idOf(given['id']);
  const from = textOf(given['from']);
  const words = [objectOf(given['text'])['body'], objectOf(given['button'])['text']].map(textOf);
  if (messageId === undefined || !/^\d{5,20}$/.test(from) || !words.some(isOptOutKeyword)) return [];
  return [
    {
      messageId,
      event: 'stopped',
      eventId: null,
      bounceType: null,
      occurredAt: timeOf(given['timestamp'], now),
      namedSend: null,
      stopOf: `+${from}`,
    },
  ];
}
