import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { answerOf, textOf } from '../answers.js';
import { defineProvider } from '../provider.js';
import { below, identifier, webAddress } from '../setting-fields.js';
import { TokenSource } from '../token-source.js';
import type { HandOff, HttpAnswer, HttpSpeaker, SpeakerTools } from '../transport-config.js';

const HOSTS = {
  production: 'https://api.push.apple.com',
  sandbox: 'https://api.sandbox.push.apple.com',
} as const;
/** Apple takes a token for an hour, and a new one no oftener than every 20 minutes. */
const TOKEN_MS = 40 * 60_000;
const DEVICE_TOKEN = /^[0-9a-f]{16,200}$/i;

/** Whose key signs, and for which app. */
interface Identity {
  readonly teamId: string;
  readonly keyId: string;
  readonly topic: string;
  readonly privateKey: string;
}

/** Apple Push Notification service, by a signed token over HTTP/2. */
export const apns = defineProvider({
  name: 'apns',
  channels: ['push'],
  fields: {
    team_id: identifier(20),
    key_id: identifier(20),
    /** The bundle id of the app. */
    topic: identifier(155),
    environment: z.enum(['production', 'sandbox']).default('production'),
    base_url: webAddress.nullish(),
  },
  secrets: {
    private_key: z.string().max(2_000).refine(isSigningKey, 'Expected the .p8 file of a key for P-256'),
  },
  destinations: ({ environment, base_url: own }) => [
    { field: 'base_url', address: own ?? HOSTS[environment] },
  ],
  open({ setting, secret }) {
    const privateKey = secret('private_key');
    if (privateKey === undefined) return undefined;
    const { team_id: teamId, key_id: keyId, topic, environment, base_url: own } = setting;
    const identity = { teamId, keyId, topic, privateKey };
    const base = own ?? HOSTS[environment];
    return { kind: 'http', http2: true, trusted: false, speaker: (tools) => speak(base, identity, tools) };
  },
  compose({ parts: { title, body, url }, sendId }) {
    return Buffer.from(
      JSON.stringify({
        aps: { alert: { title, body }, sound: 'default' },
        send_id: sendId,
        ...(url === undefined ? {} : { url }),
      }),
    );
  },
  webhooks: {},
});

function speak(base: string, identity: Identity, tools: SpeakerTools): HttpSpeaker {
  const tokens = new TokenSource(async () => ({ token: await sign(identity, tools.now()), forMs: TOKEN_MS }));
  let last = '';
  return {
    async request({ to, sendId, content }) {
      // Of another provider, perhaps: nobody is suppressed for it.
      if (!DEVICE_TOKEN.test(to)) return { outcome: 'bounced' };
      const token = await tokens.get();
      if (typeof token !== 'string') return token;
      last = token;
      return {
        url: below(base, `/3/device/${to.toLowerCase()}`),
        headers: {
          authorization: `bearer ${token}`,
          'apns-topic': identity.topic,
          'apns-push-type': 'alert',
          'apns-priority': '10',
          // The send's own id: of two attempts a device shows one.
          'apns-id': sendId,
          'apns-collapse-id': sendId,
        },
        body: content,
      };
    },
    read(answer) {
      const said = read(answer);
      if (said === 'again') tokens.forget(last);
      return said;
    },
  };
}

/** By Apple's own reasons (“Handling notification responses from APNs”). */
function read({ status, body }: HttpAnswer): HandOff | 'again' | undefined {
  if (status === 200) return { outcome: 'sent', code: status };
  switch (textOf(answerOf(body)['reason'])) {
    case 'Unregistered':
    case 'ExpiredToken':
      return { outcome: 'bounced', code: status, recipientGone: true };
    case 'ExpiredProviderToken':
      return 'again';
    case 'InvalidProviderToken':
    case 'MissingProviderToken':
    case 'BadCertificate':
    case 'BadCertificateEnvironment':
    case 'Forbidden':
      return { outcome: 'misconfigured', stage: 'token', code: status };
    case 'BadTopic':
    case 'MissingTopic':
    case 'TopicDisallowed':
      return { outcome: 'misconfigured', stage: 'topic', code: status };
    case 'TooManyProviderTokenUpdates':
      return { outcome: 'deferred', code: status, throttled: true };
    // To this device alone.
    case 'TooManyRequests':
      return { outcome: 'deferred', code: status };
    default:
      // 410 is a token that was good once. A BadDeviceToken may be one of the other environment: it is not suppressed.
      return status === 410 ? { outcome: 'bounced', code: status, recipientGone: true } : undefined;
  }
}

function sign({ teamId, keyId, privateKey }: Identity, now: Date): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setIssuedAt(Math.floor(now.getTime() / 1_000))
    .sign(createPrivateKey(privateKey));
}

function isSigningKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}
