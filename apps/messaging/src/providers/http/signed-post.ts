import { signStandard } from '../../vocabulary/signatures/standard-webhooks.js';
import { fieldOf, idOf } from '../answers.js';
import type { HttpAnswer, HandOff, HttpSpeaker } from '../transport-config.js';

/**
 * Any provider that takes a JSON message signed by Standard Webhooks. `webhook-id` is the send's id on every attempt,
 * so that the provider can tell a repeat; a 2xx names its own id of the message in `provider_message_id`.
 */
export function signedPost(account: { readonly url: string; readonly secret: string }): HttpSpeaker {
  const url = new URL(account.url);
  return {
    request: ({ sendId, content }) => ({
      url,
      body: content,
      headers: {
        'content-type': 'application/json',
        ...signStandard([account.secret], { id: sendId, at: new Date(), body: content }),
      },
    }),
    read,
  };
}

function read({ status, body }: HttpAnswer): HandOff | undefined {
  if (status >= 200 && status < 300) {
    const id = idOf(fieldOf(body, 'provider_message_id'));
    return { outcome: 'sent', code: status, ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  // Gone: whom the message is for is not there any more, as push services say of a token.
  return status === 410 ? { outcome: 'bounced', code: status, recipientGone: true } : undefined;
}
