import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ACCESS_TOKEN_AUDIENCE, ACCESS_TOKEN_TYPE } from '@customer-platform/authorization';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, SIGNING_ALGORITHM, SigningKeys } from '@customer-platform/database';
import { SignJWT, type JWTPayload } from 'jose';

/** What the keys that sign access tokens are for. */
export const ACCESS_TOKENS = 'access_tokens';
/** An access token lives so long (identity.md §7). */
export const ACCESS_TOKEN_LIFE_S = 300;
/** One of an impersonation, which has no refresh, lives as long as that may last (identity.md §6). */
export const LONGEST_ACCESS_TOKEN_LIFE_S = 1_800;
/** `client_id` of tokens that no OAuth client asked for. */
const OWN_CLIENT = 'customer-platform';

/** What a token says of its session. */
export interface TokenSession {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly authenticatedAt: Date;
  readonly amr: readonly string[];
  /** The OAuth client it is issued to; our own unless said. */
  readonly clientId?: string;
  /** What the client may learn of the user. */
  readonly scope?: string | undefined;
  /** What it may use of the user's rights; null or absent: all. */
  readonly apiScopes?: readonly string[] | null;
}

/** What a token says of an impersonation: its session is that, and it has a second name. */
interface TokenImpersonation extends TokenSession {
  /** Who acts as the user (RFC 8693, `act`). */
  readonly actorId: string;
  readonly expiresAt: Date;
}

/** A client that is a principal itself, by client credentials. */
interface TokenClient {
  readonly organizationId: string;
  readonly clientId: string;
  /** Which of its secrets it has now: its token dies with it. */
  readonly generation: string;
}

/** Issues users' access tokens: ES256 JWTs by RFC 9068, with who and in which session, and no permission. */
@Injectable()
export class AccessTokenIssuing {
  constructor(
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
  ) {}

  /** Sees to it that the next token is signed without asking the database. */
  async prepare(): Promise<void> {
    await this.keys.toSign(ACCESS_TOKENS);
  }

  issue(session: TokenSession): Promise<string> {
    return this.sign(session.userId, claimsOf(session));
  }

  /** A token as the user by whoever acts, good until the end: nothing refreshes it. */
  issueImpersonation(impersonation: TokenImpersonation): Promise<string> {
    const { userId, actorId, expiresAt } = impersonation;
    return this.sign(userId, { ...claimsOf(impersonation), act: { sub: actorId } }, secondsOf(expiresAt));
  }

  /** A token of the client's own: it is the subject, and its generation stands for a session. */
  issueToClient({ organizationId, clientId, generation }: TokenClient): Promise<string> {
    return this.sign(clientId, { org_id: organizationId, sid: generation, client_id: clientId });
  }

  private async sign(subject: string, claims: JWTPayload, expiresAt?: number): Promise<string> {
    const { kid, privateKey } = await this.keys.toSign(ACCESS_TOKENS);
    const now = secondsOf(this.clock.now());
    return new SignJWT(claims)
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: ACCESS_TOKEN_TYPE })
      .setIssuer(readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL)
      .setAudience(ACCESS_TOKEN_AUDIENCE)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(expiresAt ?? now + ACCESS_TOKEN_LIFE_S)
      .sign(privateKey);
  }
}

function claimsOf({
  id,
  organizationId,
  authenticatedAt,
  amr,
  clientId = OWN_CLIENT,
  scope,
}: TokenSession): JWTPayload {
  const auth_time = secondsOf(authenticatedAt);
  return { org_id: organizationId, sid: id, client_id: clientId, amr, scope, auth_time };
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
