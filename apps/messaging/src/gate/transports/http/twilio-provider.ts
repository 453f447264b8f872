import type { HandOff } from '../transport.js';
import type { HttpProvider } from './http-transport.js';
import { fieldOf, idOf } from './provider-answer.js';

/** Twilio's own codes that blame the recipient's number for good: not a number, not a mobile one, not reachable. */
const GONE: ReadonlySet<unknown> = new Set([21211, 21214, 21217, 21401, 21614, 63024]);

/** Twilio's Messages resource (2010-04-01), or a service of its shape. */
export function twilioProvider(way: {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
}): HttpProvider {
  const base = way.baseUrl.replace(/\/$/, '');
  const url = new URL(`${base}/2010-04-01/Accounts/${way.accountSid}/Messages.json`);
  const authorization = `Basic ${Buffer.from(`${way.accountSid}:${way.authToken}`).toString('base64')}`;
  return {
    name: 'twilio',
    post: ({ content }) => ({
      url,
      body: content,
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization },
    }),
    read,
  };
}

function read(status: number, body: string): HandOff {
  if (status >= 200 && status < 300) {
    const sid = idOf(fieldOf(body, 'sid'));
    return { outcome: 'sent', code: status, ...(sid === undefined ? {} : { providerMessageId: sid }) };
  }
  const recipientGone = GONE.has(fieldOf(body, 'code'));
  return { outcome: 'bounced', code: status, ...(recipientGone ? { recipientGone } : {}) };
}
