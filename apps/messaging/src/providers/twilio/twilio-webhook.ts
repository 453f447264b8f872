import { createHmac } from 'node:crypto';
import { formFields, parseForm } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { equalInConstantTime } from '../../vocabulary/signatures/constant-time.js';
import { entryOf } from '../answers.js';
import type { ProviderReport, ReportedEvent } from '../report.js';
import { isOptOutKeyword } from '../opt-out-keywords.js';
import { headerOf, secretOf, type Webhook, type WebhookCall } from '../webhook.js';

/** What Twilio tells of a message; other states (`queued`, `sending`, `sent`) say nothing that is not known. */
const EVENTS: Readonly<Record<string, ReportedEvent>> = {
  delivered: 'delivered',
  read: 'opened',
  undelivered: 'bounced',
  failed: 'failed',
};
/** Error codes that blame the number for good: unknown, a land line, not a mobile one, not on WhatsApp. */
const GONE: ReadonlySet<string> = new Set(['30005', '30006', '21211', '21614', '63024']);
/** The recipient has told Twilio to stop before. */
const STOPPED = '21610';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type Form = Readonly<Record<string, string>>;

/** What is needed of its account. */
interface TwilioAccount {
  secret(field: 'auth_token'): string | undefined;
}

/** Twilio: SHA-1 over the URL and the form's fields in their order; it signs no time, and its ids make repeats known. */
export const twilioWebhook: Webhook<TwilioAccount> = {
  verify(call, account) {
    const secret = secretOf(account, 'auth_token');
    const given = headerOf(call, 'x-twilio-signature');
    const fields = signedFields(call.body); // read once, whatever its fields are named
    // Twilio writes the port into what it signs or leaves it out.
    const fits = spellingsOf(call.url).map((url) =>
      equalInConstantTime(
        given,
        createHmac('sha1', secret)
          .update(url + fields)
          .digest('base64'),
      ),
    );
    if (!fits.includes(true)) throw new Problem('invalid_signature');
  },
  read(call) {
    const form = parseForm(call.body) as Form;
    return form['MessageStatus'] === undefined &&
      form['SmsStatus'] !== undefined &&
      form['Body'] !== undefined
      ? inbound(form, call.now)
      : status(form, call);
  },
};

/** Each name with its values, sorted, each value once. */
function signedFields(body: Buffer): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of formFields(body)) {
    const known = values.get(name);
    if (known) known.add(value);
    else values.set(name, new Set([value]));
  }
  return [...values.keys()]
    .sort()
    .flatMap((name) => [...(values.get(name) ?? [])].sort().map((value) => name + value))
    .join('');
}

function spellingsOf(text: string): string[] {
  const [origin = '', scheme = '', host = '', port = ''] =
    /^(https?):\/\/(\[[^\]]+\]|[^/:?#]+)(:\d+)?/.exec(text) ?? [];
  const rest = text.slice(origin.length);
  const usual = scheme === 'https' ? ':443' : ':80';
  return [...new Set([port, '', usual])].map((spelling) => `${scheme}://${host}${spelling}${rest}`);
}

function status(form: Form, { url, now }: WebhookCall): ProviderReport[] {
  const messageId = form['MessageSid'] ?? form['SmsSid'];
  if (messageId === undefined || messageId === '' || messageId.length > 100) return [];
  const code = form['ErrorCode'] ?? '';
  const event =
    code === STOPPED ? 'stopped' : entryOf(EVENTS, form['MessageStatus'] ?? form['SmsStatus'] ?? '');
  if (event === undefined) return [];
  const gone = GONE.has(code);
  const named = new URL(url).searchParams.get('send')?.toLowerCase() ?? '';
  const bounced = event === 'bounced' || (event === 'failed' && gone);
  return [
    {
      messageId,
      event: bounced ? 'bounced' : event,
      eventId: null,
      bounceType: bounced ? (gone ? 'hard' : 'soft') : null,
      occurredAt: now,
      namedSend: UUID.test(named) ? named : null,
      stopOf: null,
    },
  ];
}

function inbound(form: Form, now: Date): ProviderReport[] {
  const stop = form['OptOutType']?.toUpperCase() === 'STOP' || isOptOutKeyword(form['Body'] ?? '');
  const messageId = form['MessageSid'] ?? form['SmsSid'];
  const from = form['From'];
  if (!stop || messageId === undefined || messageId === '' || messageId.length > 100 || from === undefined)
    return [];
  return [
    {
      messageId,
      event: 'stopped',
      eventId: null,
      bounceType: null,
      occurredAt: now,
      namedSend: null,
      stopOf: from.replace(/^whatsapp:/, ''),
    },
  ];
}
