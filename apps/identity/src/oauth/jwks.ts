import { Injectable } from '@nestjs/common';
import { InternalClient, type SigningKeySet } from '@customer-platform/authorization';
import { Clock, SigningKeys } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { ACCESS_TOKENS, LONGEST_ACCESS_TOKEN_LIFE_S } from '../sessions/access-token.issuing.js';
import { ID_TOKEN_ALGORITHM, ID_TOKEN_LIFE_S, ID_TOKENS } from './id-tokens.js';
import { staleOnError } from './stale-on-error.js';

/** What is shown lags behind what is true by so much at most; keys are shown for a day before they sign. */
const KEPT_MS = 60_000;
/** Then it is read anew while the former is still shown: nobody waits for a module that hangs. */
const RENEWED_AFTER_MS = 10_000;
/** While it cannot be read the last is good for so long: no key signs that was not shown for a day. */
const GOOD_WHILE_AWAY_MS = 3_600_000;
const CORE_TIMEOUT_MS = 1_000;

interface Kept<T> {
  readonly keys: T;
  readonly at: number;
}

/** All public keys of the platform: of access tokens, ID tokens, and what core shows, its own keys and other modules'. */
@Injectable()
export class Jwks {
  private kept: Kept<JWK[]> | undefined;
  private ofCore: JWK[] = [];
  private reading: Promise<JWK[]> | undefined;

  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly internal: InternalClient,
    private readonly clock: Clock,
  ) {}

  async keys(): Promise<JWK[]> {
    const now = this.clock.now().getTime();
    const { kept } = this;
    const age = kept ? now - kept.at : Infinity;
    if (kept && age < RENEWED_AFTER_MS) return kept.keys;
    const reading = (this.reading ??= this.read(now)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'The public keys could not be read anew');
        throw error;
      })
      .finally(() => (this.reading = undefined)));
    if (!kept || age >= GOOD_WHILE_AWAY_MS) return reading;
    const shown = staleOnError(reading, kept.keys);
    return age >= KEPT_MS ? shown : kept.keys;
  }

  private async read(now: number): Promise<JWK[]> {
    const [access, id, members] = await Promise.all([
      this.signingKeys.shown(ACCESS_TOKENS, LONGEST_ACCESS_TOKEN_LIFE_S * 1_000),
      this.signingKeys.shown(ID_TOKENS, ID_TOKEN_LIFE_S * 1_000, ID_TOKEN_ALGORITHM),
      this.membersKeys(),
    ]);
    const own = [...access, ...id];
    const ownIds = new Set(own.map(({ kid }) => kid));
    const keys = [...own, ...members.filter(({ kid }) => !ownIds.has(kid))];
    this.kept = { keys, at: now };
    return keys;
  }

  /** While core is away those that it last showed. */
  private async membersKeys(): Promise<JWK[]> {
    try {
      const call = { method: 'GET' as const, path: '/internal/members/keys', timeoutMs: CORE_TIMEOUT_MS };
      const { keys } = await this.internal.call<SigningKeySet>('core', call);
      this.ofCore = await believed(keys);
    } catch (error) {
      log.warn({ err: error }, 'Core did not show the keys of members’ tokens');
    }
    return this.ofCore;
  }
}

/**
 * Of what another process shows, the keys that cannot be taken for one of ours: they sign by ES256, which no ID token is
 * signed by, and each is called by its own thumbprint (RFC 7638), so that none answers to the name of another.
 */
async function believed(shown: readonly JWK[]): Promise<JWK[]> {
  const keys = await Promise.all(shown.map(believedKey));
  const known = keys.filter((key) => key !== undefined);
  if (known.length < shown.length) {
    const count = shown.length - known.length;
    log.error({ count }, 'Core showed keys that are none of the platform; they are left out');
  }
  return known;
}

/** Nothing of it but what verifies. */
async function believedKey({ kty, crv, x = '', y = '', kid, alg, use }: JWK): Promise<JWK | undefined> {
  if (kty !== 'EC' || crv !== 'P-256' || alg !== 'ES256' || use !== 'sig') return undefined;
  const key = { kty, crv, x, y };
  try {
    await importJWK(key, alg);
    return kid === (await calculateJwkThumbprint(key)) ? { ...key, kid, alg, use } : undefined;
  } catch {
    return undefined;
  }
}
