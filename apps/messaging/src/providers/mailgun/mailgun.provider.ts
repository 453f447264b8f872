import { z } from 'zod';
import { readMailDomain } from '@customer-platform/http';
import { answerOf, idOf, textOf } from '../answers.js';
import { defineProvider } from '../provider.js';
import { anySecret, below, headerSecret, webAddress } from '../setting-fields.js';
import type { HandOff, HttpSpeaker } from '../transport-config.js';
import { composeMailgunMessage, formType } from './mailgun-message.js';
import { mailgunWebhook } from './mailgun-webhook.js';

const HOSTS = { us: 'https://api.mailgun.net', eu: 'https://api.eu.mailgun.net' } as const;

/** The address of the recipient is none, whatever is sent to it. */
const NO_ADDRESS = /'?to'? parameter is not a valid address/i;
/** The domain or the account may not send at all. */
const OF_ACCOUNT =
  /^(?:domain|account|sandbox).{0,300}\b(?:disabled|not allowed|unverified|not found|suspended)/i;

/** Mailgun's API; it signs what it sends by the keys of the domain it has. */
export const mailgun = defineProvider({
  name: 'mailgun',
  channels: ['email'],
  fields: {
    domain: z
      .string()
      .max(253)
      .refine((text) => readMailDomain(text) !== undefined, 'Expected a domain'),
    region: z.enum(['us', 'eu']).default('us'),
    base_url: webAddress.nullish(),
  },
  secrets: { api_key: headerSecret, signing_key: anySecret },
  destinations: ({ region, base_url: own }) => [{ field: 'base_url', address: own ?? HOSTS[region] }],
  open({ setting: { domain, region, base_url: own }, secret }) {
    const key = secret('api_key');
    if (key === undefined) return undefined;
    const url = below(own ?? HOSTS[region], `/v3/${readMailDomain(domain) ?? ''}/messages.mime`);
    return { kind: 'http', trusted: false, speaker: () => speak(url, key) };
  },
  compose: composeMailgunMessage,
  webhooks: { mailgun: mailgunWebhook },
});

function speak(url: URL, key: string): HttpSpeaker {
  const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
  return {
    request: ({ content }) => ({
      url,
      headers: { 'content-type': formType(content), authorization },
      body: content,
    }),
    read: ({ status, body }) => read(status, body),
  };
}

function read(status: number, body: string): HandOff | undefined {
  const { id: given, message } = answerOf(body);
  if (status >= 200 && status < 300) {
    const id = idOf(given);
    return { outcome: 'sent', code: status, ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  if (status !== 400) return undefined;
  const said = textOf(message);
  if (NO_ADDRESS.test(said)) return { outcome: 'bounced', code: status, recipientGone: true };
  return OF_ACCOUNT.test(said) ? { outcome: 'misconfigured', stage: 'account', code: status } : undefined;
}
