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
}

/** A client that is a principal itself, by client credentials. */
export interface TokenClient {
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

  issue({
    id,
    organizationId,
    userId,
    authenticatedAt,
    amr,
    clientId,
    scope,
  }: TokenSession): Promise<string> {
    const claims = { org_id: organizationId, sid: id, client_id: clientId ?? OWN_CLIENT, amr, scope };
    return this.sign(userId, { ...claims, auth_time: Math.floor(authenticatedAt.getTime() / 1_000) });
  }

  /** A token of the client's own: it is the subject, and its generation stands for a session. */
  issueToClient({ organizationId, clientId, generation }: TokenClient): Promise<string> {
    return this.sign(clientId, { org_id: organizationId, sid: generation, client_id: clientId });
  }

  private async sign(subject: string, claims: JWTPayload): Promise<string> {
    const { kid, privateKey } = await this.keys.toSign(ACCESS_TOKENS);
    const now = Math.floor(this.clock.now().getTime() / 1_000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: ACCESS_TOKEN_TYPE })
      .setIssuer(readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL)
      .setAudience(ACCESS_TOKEN_AUDIENCE)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + ACCESS_TOKEN_LIFE_S)
      .sign(privateKey);
  }
}
