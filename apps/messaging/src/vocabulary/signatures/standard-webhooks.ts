import { createHmac } from 'node:crypto';
import { equalInConstantTime } from './constant-time.js';
import { isEd25519Secret, signEd25519 } from './ed25519-keys.js';

/** The three headers of Standard Webhooks (https://www.standardwebhooks.com). */
export interface StandardHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/** Before a secret as it is shown. */
export const SECRET_PREFIX = 'whsec_';
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

/** What is signed: the bytes of a message, its id, and when it is sent. */
interface StandardMessage {
  readonly id: string;
  readonly at: Date;
  readonly body: Buffer | string;
}

/** The headers that sign a message: one signature for each secret, in their order; `v1a` by a private key. */
export function signStandard(secrets: readonly string[], { id, at, body }: StandardMessage): StandardHeaders {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => signedBy(secret, id, seconds, body)).join(' '),
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

function signedBy(secret: string, id: string, timestamp: string, body: Buffer | string): string {
  if (!isEd25519Secret(secret)) return `v1,${signature(secret, id, timestamp, body)}`;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body as string)]);
  return `v1a,${signEd25519(secret, signed)}`;
}

function signature(secret: string, id: string, timestamp: string, body: Buffer | string): string {
  const key = Buffer.from(withoutPrefix(secret), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

function withoutPrefix(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}
