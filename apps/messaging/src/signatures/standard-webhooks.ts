import { createHmac } from 'node:crypto';
import { equalInConstantTime } from './constant-time.js';

/** The three headers of Standard Webhooks (https://www.standardwebhooks.com). */
export interface StandardHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

const PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const [LEAST_BYTES, MOST_BYTES] = [24, 64];
/** One for each secret that is being replaced, and some to spare; a header has room for four thousand. */
const MOST_SIGNATURES = 20;

/** Whether a text can be the secret of a symmetric signature: 24 to 64 bytes in base64, `whsec_` before them or not. */
export function isStandardSecret(text: string): boolean {
  const bare = withoutPrefix(text);
  const { length } = Buffer.from(bare, 'base64');
  return BASE64.test(bare) && length >= LEAST_BYTES && length <= MOST_BYTES;
}

/** The headers that sign a body. @param seconds since 1970 */
export function signStandard(secret: string, id: string, seconds: number, body: Buffer): StandardHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature(secret, id, String(seconds), body)}`,
  };
}

/** Whether one of the first twenty signatures given, separated by spaces, is the one that the secret makes of these very bytes. */
export function verifyStandard(secret: string, headers: StandardHeaders, body: Buffer): boolean {
  const expected = signature(secret, headers['webhook-id'], headers['webhook-timestamp'], body);
  // Each is compared: which one fits, and how much of it, takes no less time.
  return headers['webhook-signature']
    .split(' ', MOST_SIGNATURES)
    .map((given) => given.startsWith('v1,') && equalInConstantTime(given.slice(3), expected))
    .includes(true);
}

function signature(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(withoutPrefix(secret), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

function withoutPrefix(secret: string): string {
  return secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
}
