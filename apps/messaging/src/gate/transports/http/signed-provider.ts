import { signStandard } from '../../../signatures/standard-webhooks.js';
import type { HandOff } from '../transport.js';
import type { HttpProvider } from './http-transport.js';
import { fieldOf, idOf } from './provider-answer.js';

/**
 * Any provider that takes a JSON message signed by Standard Webhooks. `webhook-id` is the send's id on every attempt,
 * so that the provider can tell a repeat; a 2xx names its own id of the message in `provider_message_id`.
 */
export function signedProvider(way: { readonly url: string; readonly secret: string }): HttpProvider {
  const url = new URL(way.url);
  return {
    name: 'http',
    post: ({ sendId, content }) => ({
      url,
      body: content,
      headers: {
        'content-type': 'application/json',
        ...signStandard([way.secret], { id: sendId, at: new Date(), body: content }),
      },
    }),
    read: (status, body) => read(status, body),
  };
}

function read(status: number, body: string): HandOff {
  if (status >= 200 && status < 300) {
    const id = idOf(fieldOf(body, 'provider_message_id'));
    return { outcome: 'sent', code: status, ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  // Gone: whom the message is for is not there any more, as push services say of a token.
  return { outcome: 'bounced', code: status, ...(status === 410 ? { recipientGone: true } : {}) };
}
