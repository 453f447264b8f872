import { isLoopbackHost } from '@customer-platform/outbound';
import { answerOf, objectOf, textOf } from '../answers.js';
import type { SubscriptionKeys } from './encryption.js';

/** Where and for whom a browser takes pushes (W3C Push API). */
interface Subscription {
  readonly endpoint: URL;
  readonly keys: SubscriptionKeys;
}

/**
 * Reads the push token of a browser: its subscription as JSON. Undefined where it is none: an endpoint that is not
 * https (but on this machine, which only local mode reaches), or a key of another length.
 */
export function readSubscription(token: string): Subscription | undefined {
  const { endpoint: text, keys } = answerOf(token);
  const { p256dh, auth } = objectOf(keys);
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined;
  const endpoint = new URL(text);
  const { protocol, hostname, username, password } = endpoint;
  const safe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  if (!safe || username !== '' || password !== '') return undefined;
  return bytesOf(p256dh) === 65 && bytesOf(auth) === 16
    ? { endpoint, keys: { p256dh: textOf(p256dh), auth: textOf(auth) } }
    : undefined;
}

function bytesOf(given: unknown): number {
  return /^[\w-]+={0,2}$/.test(textOf(given)) ? Buffer.from(textOf(given), 'base64url').length : 0;
}
