import { createHash } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose';
import { RegistryUnavailable, type AuthorizationSource } from './authorization-source.js';
import type { Monotonic } from './monotonic.js';
import type { ClientClaims, SessionClaims } from './protocol.js';

/** `aud` of a user's access token (RFC 9068). */
export const ACCESS_TOKEN_AUDIENCE = 'management-api';
/** `typ` of its header, by which no other token of the same keys can pass for one. */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

/** A key that was taken away verifies nothing after so long. */
const KEYS_KEPT_MS = 300_000;
/** Then they are read anew while the former still verify: no request waits for what it does not need. */
const RENEWED_AFTER_MS = 240_000;
/** A token of an unknown key has the keys read again, but not for each of a flood of them. */
const READ_AGAIN_AFTER_MS = 5_000;
/** While the registry is away, whoever comes with an unknown key has it asked so often. */
const TRIED_AGAIN_AFTER_MS = 1_000;
const READ_TIMEOUT_MS = 500;
/** Allowed difference between the clocks of two machines. */
const CLOCK_TOLERANCE_S = 5;
/** Tokens that are remembered as verified: of more users at once the oldest are verified again. */
const MOST_REMEMBERED = 10_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What a valid access token says: which user, where and in which session, or which client; never what they may do. */
export type AccessToken = { readonly session: SessionClaims } | { readonly client: ClientClaims };

interface Keys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly ids: ReadonlySet<string>;
  readonly readAt: number;
}

/** A token that was verified, by which key, and until when that holds. */
interface Verified {
  readonly token: AccessToken;
  readonly kid: string;
  readonly endsAt: number;
}

/**
 * Verifies access tokens: ES256 JWTs that identity signs (identity.md §7). That one is valid says nothing of its session
 * or client, which may have ended: the registry is asked for that. A signature is checked once, at first sight: it takes
 * thirty times as long as finding the token again.
 */
export class AccessTokens {
  private readonly verified = new Map<string, Verified>();
  private keys: Keys | undefined;
  private reading: Promise<Keys> | undefined;
  private failedAt = -Infinity;

  constructor(
    private readonly source: AuthorizationSource,
    private readonly issuer: string,
    private readonly clock: Monotonic,
  ) {}

  /** @throws Problem `invalid_token`, `token_expired`, `authorization_unavailable` while no key is known */
  async verify(token: string): Promise<AccessToken> {
    const kid = keyIdOf(token);
    const keys = await this.keysFor(kid);
    const name = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(name);
    // A key that was taken away verifies nothing any more.
    if (known && keys.ids.has(known.kid) && Date.now() < known.endsAt) return known.token;
    this.verified.delete(name);
    const { said, endsAt } = await this.check(token, keys);
    this.verified.set(name, { token: said, kid, endsAt });
    if (this.verified.size > MOST_REMEMBERED) this.forgetOldest();
    return said;
  }

  private forgetOldest(): void {
    const [oldest] = this.verified.keys();
    if (oldest !== undefined) this.verified.delete(oldest);
  }

  private async check(token: string, keys: Keys): Promise<{ said: AccessToken; endsAt: number }> {
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms: ['ES256'],
        typ: ACCESS_TOKEN_TYPE,
        issuer: this.issuer,
        audience: ACCESS_TOKEN_AUDIENCE,
        requiredClaims: ['sub', 'exp', 'iat', 'sid', 'org_id'],
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      return { said: claimsOf(payload), endsAt: ((payload.exp ?? 0) + CLOCK_TOLERANCE_S) * 1_000 };
    } catch (error) {
      const expired = error instanceof Error && 'code' in error && error.code === 'ERR_JWT_EXPIRED';
      throw new Problem(expired ? 'token_expired' : 'invalid_token', { cause: error });
    }
  }

  private async keysFor(id: string): Promise<Keys> {
    const { keys } = this;
    const now = this.clock.now();
    const age = keys ? now - keys.readAt : Infinity;
    const isKnown = keys?.ids.has(id) === true;
    if (keys && age < (isKnown ? KEYS_KEPT_MS : READ_AGAIN_AFTER_MS)) {
      if (age >= RENEWED_AFTER_MS && !this.triedLately(now)) void this.read().catch(ignored);
      return keys;
    }
    try {
      if (this.triedLately(now)) throw new RegistryUnavailable('The keys could not be read a moment ago');
      return await this.read();
    } catch (error) {
      // Known keys go on verifying while the registry is away; whether the session lasts it must say itself.
      if (keys && isKnown) return keys;
      if (error instanceof RegistryUnavailable) {
        throw new Problem('authorization_unavailable', { cause: error });
      }
      throw error;
    }
  }

  private triedLately(now: number): boolean {
    return now - this.failedAt < TRIED_AGAIN_AFTER_MS;
  }

  /** One read serves all who wait for one. */
  private read(): Promise<Keys> {
    this.reading ??= this.readKeys().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readKeys(): Promise<Keys> {
    try {
      return await this.ask();
    } catch (error) {
      this.failedAt = this.clock.now();
      throw error;
    }
  }

  private async ask(): Promise<Keys> {
    const { keys } = await this.source.signingKeys(READ_TIMEOUT_MS);
    const ids = new Set(keys.flatMap(({ kid }) => (typeof kid === 'string' ? [kid] : [])));
    const read: Keys = {
      find: createLocalJWKSet({ keys }),
      ids,
      readAt: this.clock.now(),
    };
    this.keys = read;
    return read;
  }
}

/** A renewal that fails is noted, and made again by one of the next requests. */
function ignored(): void {}

function keyIdOf(token: string): string {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch (error) {
    throw new Problem('invalid_token', { cause: error }); // no JWT at all
  }
  if (header.kid === undefined || header.alg !== 'ES256') throw new Problem('invalid_token');
  return header.kid;
}

/** The subject of a client's own token is the client; there `sid` is the generation of its secret. */
function claimsOf({ sub, sid, org_id: organization, client_id: clientId }: JWTPayload): AccessToken {
  if (!isUuid(sub) || !isUuid(sid) || !isUuid(organization)) throw new Error('The token names no session');
  if (clientId === sub)
    return { client: { organization_id: organization, client_id: sub, client_generation: sid } };
  return { session: { organization_id: organization, session_id: sid, user_id: sub } };
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
