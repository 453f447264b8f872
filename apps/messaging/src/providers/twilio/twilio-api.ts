import { fieldOf, idOf } from '../answers.js';
import { below } from '../setting-fields.js';
import type { HandOff, HttpAnswer, HttpSpeaker } from '../transport-config.js';

/** Twilio's own codes that blame the recipient's number for good: not a number, not a mobile one, not reachable. */
const GONE: ReadonlySet<unknown> = new Set([21211, 21214, 21217, 21401, 21614, 63024]);

/** Twilio's Messages resource (2010-04-01), or a service of its shape. */
export function twilioApi(account: {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
}): HttpSpeaker {
  const { accountSid, authToken, baseUrl } = account;
  const url = below(baseUrl, `/2010-04-01/Accounts/${accountSid}/Messages.json`);
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  return {
    request: ({ content }) => ({
      url,
      body: content,
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization },
    }),
    read,
  };
}

function read({ status, body }: HttpAnswer): HandOff | undefined {
  if (status >= 200 && status < 300) {
    const sid = idOf(fieldOf(body, 'sid'));
    return { outcome: 'sent', code: status, ...(sid === undefined ? {} : { providerMessageId: sid }) };
  }
  return GONE.has(fieldOf(body, 'code'))
    ? { outcome: 'bounced', code: status, recipientGone: true }
    : undefined;
}
