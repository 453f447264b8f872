import { z } from 'zod';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import { defineProvider } from '../provider.js';
import type { HandOff, HttpAnswer, HttpSpeaker, SpeakerTools } from '../transport-config.js';
import { encrypt, LONGEST_PLAINTEXT } from './encryption.js';
import { readSubscription } from './subscription.js';
import { fitTogether, Vapid, type VapidKeys } from './vapid.js';

/** How long a push service keeps a message for a browser that is away: four weeks are the most. */
const KEPT_SECONDS = 4 * 7 * 24 * 3_600;

/** Browsers, by the push service that each of them names in its subscription. */
export const webpush = defineProvider({
  name: 'webpush',
  channels: ['push'],
  fields: {
    /** Whom a push service writes to about this sender. */
    subject: z.string().max(300).refine(isContact, 'Expected mailto: and an address, or an https address'),
    public_key: z.string().regex(/^B[\w-]{86}$/, 'Expected the 65 bytes of a key for P-256 in base64url'),
  },
  secrets: {
    private_key: z.string().regex(/^[\w-]{43}$/, 'Expected the 32 bytes of a key for P-256 in base64url'),
  },
  /** No secret leaves: each message goes where its recipient's browser says, and is checked then. */
  destinations: () => [],
  open({ setting: { subject, public_key: publicKey }, secret }) {
    const keys = { publicKey, privateKey: secret('private_key') ?? '' };
    if (!fitTogether(keys)) return undefined;
    return {
      kind: 'http',
      trusted: false,
      eachElsewhere: true,
      speaker: (tools) => speak(keys, subject, tools),
    };
  },
  compose({ parts: { title, body, url }, sendId }) {
    return Buffer.from(
      JSON.stringify({ title, body, ...(url === undefined ? {} : { url }), send_id: sendId }),
    );
  },
  webhooks: {},
});

function speak(keys: VapidKeys, subject: string, tools: SpeakerTools): HttpSpeaker {
  const vapid = new Vapid(keys, subject);
  return {
    async request({ to, content }) {
      const subscription = readSubscription(to);
      // Of another provider, perhaps: nobody is suppressed for it.
      if (!subscription || content.length > LONGEST_PLAINTEXT) return { outcome: 'bounced' };
      const { endpoint, keys: ofBrowser } = subscription;
      const body = encrypted(content, ofBrowser);
      if (!body) return { outcome: 'bounced' };
      return {
        url: endpoint,
        headers: {
          'content-type': 'application/octet-stream',
          'content-encoding': 'aes128gcm',
          ttl: String(KEPT_SECONDS),
          urgency: 'normal',
          authorization: await vapid.authorization(endpoint.origin, tools.now()),
        },
        body,
      };
    },
    read,
  };
}

/** Undefined where the browser's key is no point of the curve. */
function encrypted(content: Buffer, keys: Parameters<typeof encrypt>[1]): Buffer | undefined {
  try {
    return encrypt(content, keys);
  } catch {
    return undefined;
  }
}

/**
 * The address is the recipient's choice: what it says is of this recipient alone, and never of the account (RFC 8030 §5).
 */
function read({ status }: HttpAnswer): HandOff | undefined {
  if (status >= 200 && status < 300) return { outcome: 'sent', code: status };
  if (status === 404 || status === 410) return { outcome: 'bounced', code: status, recipientGone: true };
  if (status === 408 || status === 425 || status === 429 || status >= 500) return undefined;
  return { outcome: 'bounced', code: status };
}

function isContact(text: string): boolean {
  if (text.startsWith('mailto:')) return checkAddress('email', text.slice('mailto:'.length)) !== undefined;
  return URL.canParse(text) && new URL(text).protocol === 'https:';
}
