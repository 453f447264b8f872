import { askToken, assertionGrant } from '../access-token.js';
import { answerOf, idOf, listOf, objectOf, textOf } from '../answers.js';
import { defineProvider } from '../provider.js';
import { readServiceAccount, serviceAccount, type ServiceAccount } from '../service-account.js';
import { below, webAddress } from '../setting-fields.js';
import { TokenSource } from '../token-source.js';
import type { HandOff, HttpSpeaker, SpeakerTools } from '../transport-config.js';

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';

/** Firebase Cloud Messaging, HTTP v1. */
export const fcm = defineProvider({
  name: 'fcm',
  channels: ['push'],
  fields: {
    base_url: webAddress.default('https://fcm.googleapis.com'),
    token_url: webAddress.default('https://oauth2.googleapis.com/token'),
  },
  secrets: { service_account: serviceAccount },
  destinations: ({ base_url: base, token_url: token }) => [
    { field: 'base_url', address: base },
    { field: 'token_url', address: token },
  ],
  open({ setting: { base_url: base, token_url: tokenUrl }, secret }) {
    const account = readServiceAccount(secret('service_account') ?? '');
    if (account === undefined) return undefined;
    return { kind: 'http', trusted: false, speaker: (tools) => speak(base, tokenUrl, account, tools) };
  },
  compose({ to, parts: { title, body, url }, sendId }) {
    return Buffer.from(
      JSON.stringify({
        message: {
          token: to,
          notification: { title, body },
          data: { send_id: sendId, ...(url === undefined ? {} : { url }) },
        },
      }),
    );
  },
  webhooks: {},
});

function speak(base: string, tokenUrl: string, account: ServiceAccount, tools: SpeakerTools): HttpSpeaker {
  const url = below(base, `/v1/projects/${account.project_id}/messages:send`);
  const tokens = new TokenSource(async () => {
    const grant = await assertionGrant(account, { tokenUrl, scope: SCOPE, now: tools.now() });
    return askToken(tokenUrl, grant, tools);
  });
  let last = '';
  return {
    async request({ content }) {
      const token = await tokens.get();
      if (typeof token !== 'string') return token;
      last = token;
      return {
        url,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: content,
      };
    },
    read({ status, body }) {
      if (status >= 200 && status < 300) return taken(status, body);
      const said = errorOf(status, body);
      if (said === 'again') tokens.forget(last);
      return said;
    },
  };
}

function taken(status: number, body: string): HandOff {
  const name = textOf(answerOf(body)['name']);
  const id = idOf(name.slice(name.lastIndexOf('/') + 1));
  return { outcome: 'sent', code: status, ...(id === undefined ? {} : { providerMessageId: id }) };
}

/** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode; the code of HTTP stands for several of them. */
function errorOf(status: number, body: string): HandOff | 'again' | undefined {
  const details = listOf(objectOf(answerOf(body)['error'])['details']);
  const code = textOf(details.map((detail) => detail['errorCode']).find((given) => given !== undefined));
  switch (code) {
    case 'UNREGISTERED':
      return { outcome: 'bounced', code: status, recipientGone: true };
    case 'INVALID_ARGUMENT':
      return { outcome: 'bounced', code: status, ...(blamesToken(details) ? { recipientGone: true } : {}) };
    // Of another project of Firebase: with the right one it may be good, so nobody is suppressed.
    case 'SENDER_ID_MISMATCH':
      return { outcome: 'bounced', code: status };
    case 'QUOTA_EXCEEDED':
      return { outcome: 'deferred', code: status, throttled: true };
    case 'UNAVAILABLE':
    case 'INTERNAL':
      return { outcome: 'deferred', code: status };
    case 'THIRD_PARTY_AUTH_ERROR':
      return { outcome: 'misconfigured', stage: 'certificate', code: status };
    default:
      return status === 401 ? 'again' : undefined;
  }
}

function blamesToken(details: readonly Readonly<Record<string, unknown>>[]): boolean {
  return details
    .flatMap((detail) => listOf(detail['fieldViolations']))
    .some(({ field }) => field === 'message.token');
}
