import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import type pg from 'pg';

/** As identity does (identity.md §7). */
const LIFE_S = 300;
const PURPOSE = 'access_tokens';
const SEALED = `
SELECT kid, sealed_private_key FROM signing_keys
 WHERE purpose = $1 AND usable_from <= now() ORDER BY usable_from DESC LIMIT 1`;
const BEGIN = `
INSERT INTO sessions (organization_id, id, user_id, client_id, client_generation, connection_id, amr, authenticated_at,
  last_seen_at, idle_expires_at, expires_at, created_at)
SELECT $1::uuid, $2::uuid, $3::uuid, id, generation, $5::uuid, $6::text[], now(),
       now(), now() + interval '30 minutes', now() + interval '12 hours', now()
  FROM oauth_clients WHERE id = $4::uuid`;
const ALLOW = `
INSERT INTO oauth_grants (organization_id, session_id, client_id, browser, payload, created_at)
VALUES ($1::uuid, $2::uuid, $3::uuid, $2::uuid::text, '{"openid": {"scope": "openid offline_access"}}', now())`;
/** One that was used already: whoever comes with it has a copy. */
const REFRESH = `
INSERT INTO oauth_tokens (organization_id, token_hash, kind, session_id, payload, consumed_at, expires_at)
VALUES ($1, $2, 'RefreshToken', $3, $4, now() - interval '1 minute', now() + interval '12 hours')`;

/** Whose session, and who vouches for them. */
interface SignIn {
  readonly organizationId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly connectionId: string;
  /** RFC 8176. */
  readonly amr: readonly string[];
}

/** A session, and what its client would hold. */
interface IssuedSession {
  readonly sessionId: string;
  readonly token: string;
  readonly usedRefreshToken: string;
}

/**
 * Signs users in without their passwords: a session is written and a token signed as identity does it, by whoever holds
 * identity's database and its key, as the person who runs the platform here does.
 */
export class TokenIssuing {
  private readonly identity: pg.Client;
  private readonly issuer: string;
  private readonly kid: string;
  private readonly key: Awaited<ReturnType<typeof importJWK>>;

  private constructor(
    identity: pg.Client,
    issuer: string,
    kid: string,
    key: Awaited<ReturnType<typeof importJWK>>,
  ) {
    this.identity = identity;
    this.issuer = issuer;
    this.kid = kid;
    this.key = key;
  }

  static async start(identity: pg.Client, encryptionKey: string, issuer: string): Promise<TokenIssuing> {
    // The libraries are built by then; this file is read before that.
    const { KeySeal } = await import('@customer-platform/database');
    await haveKeyMade(issuer);
    const { rows } = await identity.query<{ kid: string; sealed_private_key: string }>(SEALED, [PURPOSE]);
    const [row] = rows;
    if (!row) throw new Error('Identity has no key that signs access tokens yet.');
    const seal = new KeySeal(Buffer.from(encryptionKey, 'base64'), 'identity signing keys at rest');
    const jwk = JSON.parse(seal.open(`${PURPOSE}\n${row.kid}`, row.sealed_private_key)) as JWK;
    return new TokenIssuing(identity, issuer, row.kid, await importJWK(jwk, 'ES256'));
  }

  /** A new session for a client by an SSO connection, a token of it, and a refresh token of it that has been used. */
  async signIn({ organizationId, userId, clientId, connectionId, amr }: SignIn): Promise<IssuedSession> {
    const sessionId = randomUUID();
    await this.identity.query(BEGIN, [organizationId, sessionId, userId, clientId, connectionId, amr]);
    await this.identity.query(ALLOW, [organizationId, sessionId, clientId]);
    const refresh = randomBytes(32).toString('base64url');
    const hash = createHash('sha256').update(refresh).digest();
    const now = Math.floor(Date.now() / 1_000);
    const kept = {
      kind: 'RefreshToken',
      iat: now,
      exp: now + 3_600,
      accountId: userId,
      clientId,
      grantId: `${organizationId}.${sessionId}`,
      gty: 'authorization_code',
      scope: 'openid offline_access',
    };
    await this.identity.query(REFRESH, [organizationId, hash, sessionId, kept]);
    const claims = { org_id: organizationId, sid: sessionId, client_id: clientId, amr };
    const token = await new SignJWT({ ...claims, auth_time: now })
      .setProtectedHeader({ alg: 'ES256', kid: this.kid, typ: 'at+jwt' })
      .setIssuer(this.issuer)
      .setAudience('management-api')
      .setSubject(userId)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + LIFE_S)
      .sign(this.key);
    return { sessionId, token, usedRefreshToken: refresh };
  }
}

/** The first key is made when somebody asks which keys verify: a token of an unknown key has identity look. */
async function haveKeyMade(baseUrl: string): Promise<void> {
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT().setProtectedHeader({ alg: 'ES256', kid: randomUUID() }).sign(privateKey);
  const authorization = `Bearer ${token}`;
  const answer = await fetch(`${baseUrl}/v1/identity/permissions`, { headers: { authorization } });
  await answer.arrayBuffer();
}
