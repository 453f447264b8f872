import { answerOf, idOf, listOf } from '../answers.js';
import { defineProvider } from '../provider.js';
import { anySecret, below, headerSecret, identifier, webAddress } from '../setting-fields.js';
import type { HttpSpeaker } from '../transport-config.js';
import { errorOf } from './meta-errors.js';
import { composeMetaMessage } from './meta-message.js';
import { metaWebhook } from './meta-webhook.js';

/** Of the Graph API; Meta keeps a version for two years. */
const VERSION = 'v23.0';

/** WhatsApp by Meta's Cloud API. The number is named by its id, so `from` says nothing to it. */
export const meta = defineProvider({
  name: 'meta',
  channels: ['whatsapp'],
  fromIsOptional: true,
  fields: {
    phone_number_id: identifier(40),
    base_url: webAddress.default('https://graph.facebook.com'),
  },
  secrets: { access_token: headerSecret, app_secret: anySecret, verify_token: anySecret },
  destinations: ({ base_url: address }) => [{ field: 'base_url', address }],
  open({ setting: { phone_number_id: number, base_url: base }, secret }) {
    const token = secret('access_token');
    if (token === undefined) return undefined;
    return {
      kind: 'http',
      trusted: false,
      speaker: () => speak(below(base, `/${VERSION}/${number}/messages`), token),
    };
  },
  compose: composeMetaMessage,
  webhooks: { meta: metaWebhook },
});

function speak(url: URL, token: string): HttpSpeaker {
  return {
    request: ({ content }) => ({
      url,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: content,
    }),
    read({ status, body }) {
      if (status < 200 || status >= 300) return errorOf(status, body);
      const [message = {}] = listOf(answerOf(body)['messages']);
      const id = idOf(message['id']);
      return { outcome: 'sent', code: status, ...(id === undefined ? {} : { providerMessageId: id }) };
    },
  };
}
