import { Problem } from '@customer-platform/problem-json';
import { ownerOfServiceKey, type SecretsConfig } from '@customer-platform/config';
import {
  createLocalJWKSet,
  importJWK,
  jwtVerify,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';

/** A service token lives so long at most (identity.md §8). */
const LIFE_S = 60;
/** A cached token is replaced this long before its end, so that none arrives late. */
const RENEW_BEFORE_MS = 15_000;
/** Tokens remembered, issued and verified: of five modules, so many routes each; those of paths with an id are many. */
const REMEMBERED = 1_000;
/** Allowed difference between the clocks of two machines. */
const CLOCK_TOLERANCE_S = 5;

/** The keys of the modules: our own private one and everybody's public ones. */
export type ServiceKeys = Pick<SecretsConfig, 'SERVICE_PRIVATE_KEY' | 'SERVICE_PUBLIC_KEYS'>;

interface Issued {
  token: Promise<string>;
  renewAt: number;
}

/** What a token is good for: one method of one path, without its query. */
interface CalledRoute {
  readonly method: string;
  readonly path: string;
}

/** What a token says. Without a route it is of a caller of the release before. */
interface Examined {
  readonly issuer: string;
  readonly until: number;
  readonly route: string | undefined;
}

/**
 * Tokens by which modules know each other: EdDSA JWTs (RFC 8037) with `iss` the caller, `aud` the callee, `htm` and `htu`
 * the method and path called (as RFC 9449 names them), and a life of at most 60 s: who sees one on the wire may ask
 * again what was asked, and nothing else. Each module trusts the public keys it was started with: all those of the caller, whose `kid` is the
 * module's name, or the name and a number (`core-2`), so that one key can replace another while both are trusted.
 */
export class ServiceTokens {
  private readonly issued = new Map<string, Issued>();
  private readonly verified = new Map<string, Examined>();
  private readonly keys: ReturnType<typeof createLocalJWKSet>;
  private privateKey: Promise<CryptoKey> | undefined;

  constructor(
    private readonly module: string,
    private readonly config: ServiceKeys,
    private readonly now: () => number = Date.now,
  ) {
    this.keys = createLocalJWKSet(config.SERVICE_PUBLIC_KEYS);
  }

  /** A token for calls of one route of `audience`; one is reused for most of its life. @param path may have a query */
  issue(audience: string, called: CalledRoute): Promise<string> {
    const now = this.now();
    const route = routeOf(called);
    const name = `${audience} ${route.htm} ${route.htu}`;
    const known = this.issued.get(name);
    if (known && now < known.renewAt) return known.token;
    const token = this.sign(audience, route, Math.floor(now / 1_000));
    if (this.issued.size >= REMEMBERED) this.issued.clear();
    this.issued.set(name, { token, renewAt: now + LIFE_S * 1_000 - RENEW_BEFORE_MS });
    token.catch(() => this.issued.delete(name)); // the caller sees the error; the next call signs anew
    return token;
  }

  /**
   * The module that presents the token to us, for the route that it calls.
   * @throws Problem `missing_credentials`, `token_expired`; `invalid_token`, also of a token of another route
   */
  async verify(authorization: string | undefined, called: CalledRoute): Promise<string> {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new Problem('missing_credentials');
    const { issuer, route } = await this.examined(token);
    const { htm, htu } = routeOf(called);
    // The release before binds none: its instances call while this one is rolled out, or after it was taken back. No
    // instance of this release issues one that could be seen and used elsewhere.
    if (route !== undefined && route !== `${htm} ${htu}`) throw new Problem('invalid_token');
    return issuer;
  }

  private async examined(token: string): Promise<Examined> {
    const now = this.now();
    const known = this.verified.get(token);
    if (known && now < known.until) return known;
    const examined = await this.examine(token, now);
    if (this.verified.size >= REMEMBERED) this.verified.clear();
    this.verified.set(token, examined);
    return examined;
  }

  private async sign(audience: string, route: Route, now: number): Promise<string> {
    const { SERVICE_PRIVATE_KEY: jwk } = this.config;
    this.privateKey ??= importJWK(jwk as JWK, 'EdDSA') as Promise<CryptoKey>;
    return new SignJWT({ ...route })
      .setProtectedHeader({ alg: 'EdDSA', kid: jwk.kid, typ: 'JWT' })
      .setIssuer(this.module)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFE_S)
      .sign(await this.privateKey);
  }

  private async examine(token: string, now: number): Promise<Examined> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys, {
        algorithms: ['EdDSA'],
        audience: this.module,
        requiredClaims: ['iss', 'iat', 'exp'],
        // Counted from `iat`, and none that begins later than now: 60 s from some day ahead are more than 60 s.
        maxTokenAge: LIFE_S,
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(now),
      });
      const { iss = '', iat = 0, exp = 0, htm, htu } = payload satisfies JWTPayload;
      if (iss !== ownerOfServiceKey(protectedHeader.kid))
        throw new Error('The issuer is not the owner of the key');
      if (exp - iat > LIFE_S) throw new Error('The token lives too long');
      const isBound = htm !== undefined || htu !== undefined;
      return {
        issuer: iss,
        until: exp * 1_000,
        route: isBound ? `${String(htm)} ${String(htu)}` : undefined,
      };
    } catch (error) {
      const expired = error instanceof Error && 'code' in error && error.code === 'ERR_JWT_EXPIRED';
      throw new Problem(expired ? 'token_expired' : 'invalid_token', { cause: error });
    }
  }
}

interface Route {
  readonly htm: string;
  readonly htu: string;
}

function routeOf({ method, path }: CalledRoute): Route {
  const query = path.indexOf('?');
  return { htm: method, htu: query === -1 ? path : path.slice(0, query) };
}
