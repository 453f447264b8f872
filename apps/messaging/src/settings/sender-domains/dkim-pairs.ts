import { randomBytes, type KeyObject } from 'node:crypto';
import type { FreshKeys } from './dkim-key-maker.js';
import type { SealedSecret, SecretBox } from '../../vocabulary/secrets/secret-box.js';

/** Drawn at random: two pairs of a domain, whoever has it, never have one selector. */
const SELECTOR_BYTES = 8;
/** Of the selector of the second key: one selector names one key (RFC 8463 §5). */
const ED25519_SUFFIX = '-ed25519';
/** A mail that was signed before a rotation is still verified for so long. */
const STILL_PUBLISHED_MS = 7 * 86_400_000;
/** However often a domain rotates: each pair is asked about, and shown. */
const MOST_RETIRED = 5;

/** One key, as it is stored. */
interface DkimKey {
  /** As the `p` of its record has it. */
  readonly public: string;
  /** PKCS #8 in PEM, sealed; null once it signs no longer. */
  readonly private: SealedSecret | null;
}

/** Two keys that sign side by side (RFC 8463): every verifier knows the one, newer ones both. */
export interface DkimPair {
  readonly selector: string;
  /** `waiting` for its records, `signing`, or `retired`. */
  readonly use: 'waiting' | 'signing' | 'retired';
  readonly rsa: DkimKey;
  readonly ed25519: DkimKey;
  readonly retired_at: string | null;
}

/** Algorithms of a pair, as `k` of a record has them. */
export const ALGORITHMS = ['rsa', 'ed25519'] as const;

/** One of them. */
type Algorithm = (typeof ALGORITHMS)[number];

/** Whose keys they are. */
interface KeyOwner {
  readonly organizationId: string;
  readonly id: string;
}

/** Where a private key belongs; part of what it is sealed with. */
export function placeOf({ organizationId, id }: KeyOwner, selector: string, algorithm: Algorithm): string {
  return `${organizationId}/sender-domains/${id}/${selector}/${algorithm}`;
}

/** The selector of one key of a pair. */
export function selectorOf({ selector }: Pick<DkimPair, 'selector'>, algorithm: Algorithm): string {
  return algorithm === 'rsa' ? selector : selector + ED25519_SUFFIX;
}

/** A pair of fresh keys, sealed. */
export function pairOf(
  { rsa, ed25519 }: FreshKeys,
  use: 'waiting' | 'signing',
  owner: KeyOwner,
  { box, now }: { box: SecretBox; now: Date },
): DkimPair {
  const selector = `cp${randomBytes(SELECTOR_BYTES).toString('hex')}`;
  const sealed = (key: KeyObject, algorithm: Algorithm): SealedSecret => {
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    return box.seal(pem, placeOf(owner, selector, algorithm), now);
  };
  return {
    selector,
    use,
    rsa: { public: publicText(rsa.publicKey), private: sealed(rsa.privateKey, 'rsa') },
    ed25519: { public: rawPublicText(ed25519.publicKey), private: sealed(ed25519.privateKey, 'ed25519') },
    retired_at: null,
  };
}

/** The pair that signs. */
export function signingPair(pairs: readonly DkimPair[]): DkimPair {
  const pair = pairs.find(({ use }) => use === 'signing');
  if (!pair) throw new Error('a sender domain has no pair that signs');
  return pair;
}

/** The pair that is to sign next, if one waits for its records. */
export function waitingPair(pairs: readonly DkimPair[]): DkimPair | undefined {
  return pairs.find(({ use }) => use === 'waiting');
}

/** The waiting pair signs from now on; the one before is forgotten but for its records. */
export function switched(pairs: readonly DkimPair[], now: Date): DkimPair[] {
  return pairs.map((pair) => {
    if (pair.use === 'waiting') return { ...pair, use: 'signing' as const };
    return pair.use === 'signing' ? retired(pair, now) : pair;
  });
}

/** Without those whose records nobody needs any more, nor more than a few; the same array if there are none. */
export function withoutOld(pairs: DkimPair[], now: Date): DkimPair[] {
  const before = now.getTime() - STILL_PUBLISHED_MS;
  let retired = 0;
  const kept = pairs.filter(({ retired_at }) => {
    if (retired_at === null) return true;
    retired += 1;
    return retired <= MOST_RETIRED && Date.parse(retired_at) > before;
  });
  return kept.length === pairs.length ? pairs : kept;
}

function retired(pair: DkimPair, now: Date): DkimPair {
  return {
    ...pair,
    use: 'retired',
    rsa: { ...pair.rsa, private: null },
    ed25519: { ...pair.ed25519, private: null },
    retired_at: now.toISOString(),
  };
}

/** SubjectPublicKeyInfo (RFC 6376 §3.6.1). */
function publicText(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** The 32 bytes alone (RFC 8463 §4). */
function rawPublicText(key: KeyObject): string {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}
