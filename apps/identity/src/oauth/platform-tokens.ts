import { Injectable } from '@nestjs/common';
import { ACCESS_TOKEN_AUDIENCE, ACCESS_TOKEN_TYPE } from '@customer-platform/authorization';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, SIGNING_ALGORITHM, SigningKeys } from '@customer-platform/database';
import { ApplicationPassport } from '@customer-platform/http';
import { decodeJwt, decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose';
import Provider, { errors, type AccessToken, type ClientCredentials } from 'oidc-provider';
import { ACCESS_TOKENS, AccessTokenIssuing, type TokenSession } from '../sessions/access-token.issuing.js';
import { scopeThatHolds } from '../vocabulary/api-scopes.js';
import { ClientMetadata, isRefreshable, platformClient } from './client-metadata.js';
import { available } from './database-away.js';
import { Exchanges, usedBefore } from './exchanges.js';
import { toGrantId } from './grant-id.js';
import { SessionGrants } from './session-grants.js';

/** What the provider's models do, which its types do not tell of. */
interface Issued {
  getValueAndPayload: () => Promise<{ value: string }>;
}
interface Context {
  readonly route: string;
  readonly params?: Record<string, unknown>;
  entity: (name: string, value: unknown) => void;
}

/** Routes at which the provider would take no token that has a structure. */
const ROUTES_OF_TOKENS = new Set(['introspection', 'revocation']);

/**
 * Access tokens of the provider are the platform's: one form, signed by the keys that every module knows, kept nowhere.
 * The provider itself has two forms, of which one is refused at its own endpoints, so its models are taught ours here.
 */
@Injectable()
export class PlatformTokens {
  private readonly issuer = readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL;

  constructor(
    private readonly issuing: AccessTokenIssuing,
    private readonly grants: SessionGrants,
    private readonly exchanges: Exchanges,
    private readonly clients: ClientMetadata,
    private readonly keys: SigningKeys,
    private readonly passport: ApplicationPassport,
    private readonly clock: Clock,
  ) {}

  /** Teaches a provider our tokens and secrets. */
  teach(provider: Provider): void {
    this.teachIssuing(provider);
    this.teachFinding(provider);
    const { passport } = this;
    provider.Client.prototype.compareClientSecret = async function askStrategy(secret) {
      const { ctx } = Provider;
      if (!ctx) throw new Error('A secret is compared outside of a request');
      const { clientId, clientSecret: hash } = this;
      return (
        (await passport.authenticate('client_secret', ctx.req, { clientId, secret, hash })) !== undefined
      );
    };
  }

  private teachIssuing(provider: Provider): void {
    const issueToUser = (token: AccessToken) => this.issueToUser(token);
    const issueToClient = (token: ClientCredentials) => this.issueToClient(provider, token);
    Object.assign(provider.AccessToken.prototype, {
      async getValueAndPayload(this: AccessToken) {
        return { value: await available(issueToUser(this)) };
      },
    } satisfies Issued);
    Object.assign(provider.ClientCredentials.prototype, {
      async getValueAndPayload(this: ClientCredentials) {
        return { value: await available(issueToClient(this)) };
      },
    } satisfies Issued);
  }

  private teachFinding(provider: Provider): void {
    Object.assign(provider.AccessToken, {
      find: (text: unknown) => available(this.findOfUser(provider, text)),
    });
    Object.assign(provider.ClientCredentials, {
      find: (text: unknown) => available(this.findOfClient(provider, text)),
    });
    const { OIDCContext } = provider as unknown as { OIDCContext: { prototype: Context } };
    const { entity } = OIDCContext.prototype;
    OIDCContext.prototype.entity = function hideStructure(this: Context, name, value) {
      const { params } = this;
      // The client is known, the token is about to be looked at.
      if (name === 'Client' && params && ROUTES_OF_TOKENS.has(this.route)) hide(params, this.route);
      entity.call(this, name, value);
    };
  }

  private async issueToUser(token: AccessToken): Promise<string> {
    const session = await this.sessionFor(token);
    if (!session) throw new errors.InvalidGrant('its session has ended');
    // The provider answers with the token's own once it is issued. A narrower scope asked for here limits no session.
    token.scope = scopeThatHolds(token.scope, session.apiScopes);
    return this.issuing.issue({ ...session, scope: token.scope });
  }

  /** Notes that the session is in use, unless the refresh token that is still to come does so. */
  private async sessionFor({ grantId }: AccessToken): Promise<TokenSession | undefined> {
    const { ctx } = Provider;
    const exchanged = ctx && this.exchanges.of(ctx);
    if (!exchanged) return this.grants.use(grantId);
    if (exchanged.kind === 'RefreshToken') return this.exchanges.sessionOf(ctx);
    const { client, entities } = ctx.oidc;
    if (client && entities.AuthorizationCode && isRefreshable(client, entities.AuthorizationCode))
      return this.grants.look(grantId);
    if (await this.exchanges.complete(ctx, grantId)) return this.exchanges.sessionOf(ctx);
    await this.exchanges.endOfCopy(exchanged.kind, exchanged.token);
    throw usedBefore();
  }

  private async issueToClient(provider: Provider, token: ClientCredentials): Promise<string> {
    const { clientId } = token;
    const client = clientId === undefined ? undefined : await provider.Client.find(clientId);
    if (!client) throw new errors.InvalidClient('client is invalid', 'client not found');
    const { id, organizationId, generation } = platformClient(client);
    // It has its role, all of it.
    token.scope = scopeThatHolds(token.scope);
    return this.issuing.issueToClient({ clientId: id, organizationId, generation });
  }

  private async findOfUser(provider: Provider, text: unknown): Promise<AccessToken | undefined> {
    const claims = await this.verified(text);
    if (!claims || claims.sub === claims['client_id']) return undefined;
    const { sub = '', scope, sid, org_id: organizationId, client_id: clientId } = claims as Claims;
    const grantId = toGrantId({ organizationId, sessionId: sid });
    const client = await provider.Client.find(clientId);
    if (!client || !(await this.grants.find(grantId))) return undefined;
    const token = new provider.AccessToken({ accountId: sub, client, grantId, gty: '', scope, sid });
    return Object.assign(token, this.shared(claims));
  }

  private async findOfClient(provider: Provider, text: unknown): Promise<ClientCredentials | undefined> {
    const claims = await this.verified(text);
    if (!claims || claims.sub !== claims['client_id']) return undefined;
    const client = await provider.Client.find(claims.sub ?? '');
    if (!client || platformClient(client).generation !== claims['sid']) return undefined;
    if (!client.grantTypeAllowed('client_credentials')) return undefined;
    return Object.assign(new provider.ClientCredentials({ client }), this.shared(claims));
  }

  /** At the userinfo endpoint a token for another audience is refused; ours is for both, and says so elsewhere. */
  private shared({ iat, exp, jti, aud, org_id: organizationId }: JWTPayload): object {
    const told = Provider.ctx?.oidc.route === 'introspection' ? { aud } : {};
    return { iat, exp, jti, ...told, extra: { org_id: organizationId } };
  }

  private async verified(text: unknown): Promise<JWTPayload | undefined> {
    if (typeof text !== 'string') return undefined;
    const token = shown(text);
    try {
      const { kid = '' } = decodeProtectedHeader(token);
      const key = await this.keys.toVerify(ACCESS_TOKENS, kid);
      if (!key) return undefined;
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [SIGNING_ALGORITHM],
        typ: ACCESS_TOKEN_TYPE,
        issuer: this.issuer,
        audience: ACCESS_TOKEN_AUDIENCE,
        requiredClaims: ['sub', 'exp', 'iat', 'sid', 'org_id', 'client_id'],
        currentDate: this.clock.now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_J'))
        return undefined;
      if (error instanceof TypeError) return undefined; // no JWT at all
      throw error;
    }
  }
}

type Claims = JWTPayload & { scope?: string; sid: string; org_id: string; client_id: string };

/** A client's own token ends with its secret and by time alone; the provider says that it cannot be revoked. */
function hide(params: Record<string, unknown>, route: string): void {
  const { token } = params;
  if (typeof token !== 'string' || (route === 'revocation' && isOfClient(token))) return;
  params['token'] = token.replaceAll('.', '~');
}

function shown(token: string): string {
  return token.includes('.') ? token : token.replaceAll('~', '.');
}

function isOfClient(token: string): boolean {
  try {
    const { sub, client_id: clientId } = decodeJwt(token);
    return sub !== undefined && sub === clientId;
  } catch {
    return false; // no JWT: a refresh token
  }
}
