import { randomBytes } from 'node:crypto';
import type { SealedSecret, SecretBox } from '../vocabulary/secrets/secret-box.js';
import { newEd25519Pair } from '../vocabulary/signatures/ed25519-keys.js';
import { SECRET_PREFIX } from '../vocabulary/signatures/standard-webhooks.js';

/** A secret of an endpoint at rest; one that was replaced says until when it signs as well. */
export interface SigningSecret extends SealedSecret {
  readonly until: string | null;
  /** Of a pair (`v1a`): the half that is shown. */
  readonly public_key?: string;
}

/** How deliveries are signed: by a secret that both sides know, or by a private key that nobody else has. */
export const SIGNINGS = ['v1', 'v1a'] as const;
export type Signing = (typeof SIGNINGS)[number];

/** A secret that has just been made. */
export interface FreshSecret {
  readonly secret: string;
  readonly publicKey?: string;
}

const SECRET_BYTES = 32;
/** Both sign for so long, that a receiver can change over without refusing anything. */
const OVERLAP_MS = 24 * 3_600_000;
/** Rotations in a row within one day: beyond it the oldest signs no longer. */
const MOST_SECRETS = 5;

/** A fresh secret: of `v1` one that is shown once, of `v1a` a pair of which the public half is shown. */
export function newSecret(signing: Signing): FreshSecret {
  if (signing === 'v1a') return newEd25519Pair();
  return { secret: `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}` };
}

/** What may be told of a fresh secret, once; nothing of a private key. */
export function shownOnce({ secret, publicKey }: FreshSecret): { secret?: string } {
  return publicKey === undefined ? { secret } : {};
}

/** Where an endpoint's secrets belong; part of what they are sealed with. */
export function placeOf(organizationId: string, endpointId: string): string {
  return `${organizationId}/webhook-endpoints/${endpointId}`;
}

/** The secrets of an endpoint of which `secret` is the newest; those before sign for 24 h more. */
export function rotated(
  box: SecretBox,
  endpoint: { organizationId: string; id: string },
  before: readonly SigningSecret[],
  { secret, publicKey }: FreshSecret,
  now: Date,
): SigningSecret[] {
  const sealed = box.seal(secret, placeOf(endpoint.organizationId, endpoint.id), now);
  const until = new Date(now.getTime() + OVERLAP_MS).toISOString();
  const others = live(before, now).map((one) => ({ ...one, until: one.until ?? until }));
  const newest = { ...sealed, until: null, ...(publicKey === undefined ? {} : { public_key: publicKey }) };
  return [newest, ...others].slice(0, MOST_SECRETS);
}

/** The secrets that sign at an instant, opened, newest first. @throws UnreadableSecret */
export function openSecrets(
  box: SecretBox,
  endpoint: { organizationId: string; id: string },
  secrets: readonly SigningSecret[],
  now: Date,
): string[] {
  return live(secrets, now).map((one) => box.open(one, placeOf(endpoint.organizationId, endpoint.id)));
}

function live(secrets: readonly SigningSecret[], now: Date): SigningSecret[] {
  return secrets.filter(({ until }) => until === null || Date.parse(until) > now.getTime());
}
