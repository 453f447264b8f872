import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Platform, request } from '@customer-platform/kit/platform.ts';
import { adminUrl, connected } from '@customer-platform/kit/databases.ts';
import type pg from 'pg';
import { READ_PERMISSIONS, SEND_PERMISSION } from './traffic.ts';
import { TokenIssuing } from './token-issuing.ts';

/** One call of the public API with a certain key. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** How a credential's holder came to it, as far as it can be taken away. */
interface Standing {
  readonly roleId: string;
  readonly keyId?: string;
  readonly userId?: string;
  readonly membershipId?: string;
  readonly assignmentId?: string;
  readonly sessionId?: string;
  readonly clientId?: string;
  readonly connectionId?: string;
  readonly impersonationId?: string;
  /** Uses a copy of a refresh token of the session. Resolves when it has been refused. */
  readonly useCopy?: () => Promise<void>;
}

/** An organization of a round with a machine or a user in it who may call every module. */
export interface Tenant extends Standing {
  readonly organizationId: string;
  readonly credential: string;
  /** Calls as the organization's own administrator. @throws Error of every answer but 2xx */
  readonly call: Call;
  /** Calls as an administrator of the organization above. */
  readonly above: Call;
}

interface RegisteredClient {
  readonly id: string;
  readonly client_secret: string;
}

const SWITCH_ON = `
WITH connection AS (UPDATE sso_connections SET status = 'active' WHERE id = $1 RETURNING organization_id, id, domains)
INSERT INTO sso_domains (organization_id, connection_id, domain, proven_at)
SELECT organization_id, id, unnest(domains), now() FROM connection`;

/** Of a session in which a second factor was given (RFC 8176). */
const MFA = ['fed', 'otp', 'mfa'];
/** A registry on a busy machine may not answer in time: the call has had no effect then, and is made again. */
const INSISTS_FOR_MS = 20_000;

/** Makes the organizations of the rounds, by the public API as far as that goes. */
export class Tenants {
  private readonly platform: Platform;
  private readonly identity: pg.Client;
  private readonly tokens: TokenIssuing;

  private constructor(platform: Platform, identity: pg.Client, tokens: TokenIssuing) {
    this.platform = platform;
    this.identity = identity;
    this.tokens = tokens;
  }

  /** `identityKey` is identity's ENCRYPTION_KEY, which opens the keys that sign access tokens. */
  static async start(platform: Platform, identityKey: string): Promise<Tenants> {
    const identity = await connected(adminUrl(platform, 'identity'));
    try {
      const tokens = await TokenIssuing.start(identity, identityKey, platform.base_url);
      return new Tenants(platform, identity, tokens);
    } catch (error) {
      await identity.end();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.identity.end();
  }

  /** A fresh organization with a machine whose role may read in every module and send events. */
  async withMachine(): Promise<Tenant> {
    const organization = await this.organization();
    const role = await this.role(organization, 'machine', [...READ_PERMISSIONS, SEND_PERMISSION]);
    const key = await this.key(organization, role);
    return { ...organization, roleId: role, keyId: key.id, credential: key.key };
  }

  /** One more key of the tenant's role. */
  key(
    tenant: Pick<Tenant, 'call'>,
    roleId: string,
  ): Promise<{
    id: string;
    key: string;
  }> {
    return tenant.call('POST', '/v1/identity/api-keys', { name: 'Revocation', role_id: roleId });
  }

  /** A fresh organization with a signed-in user whose role may read in every module. */
  async withUser(): Promise<Tenant> {
    const organization = await this.organization();
    const roleId = await this.role(organization, 'human', READ_PERMISSIONS);
    return { ...organization, ...(await this.signedIn(organization, roleId)) };
  }

  /** A fresh organization with two such users, of whom one acts as the other. All but `userId` is that one's. */
  async withImpersonation(): Promise<Tenant> {
    const organization = await this.organization();
    const acted = await this.role(organization, 'human', READ_PERMISSIONS, 'Acted as');
    const permissions = [...READ_PERMISSIONS, 'identity.impersonation.start'];
    const actor = await this.signedIn(organization, await this.role(organization, 'human', permissions), MFA);
    const { userId } = await this.signedIn(organization, acted);
    const begin = this.caller(actor.credential);
    const body = { user_id: userId, reason: 'What ends it is tried.' };
    const path = '/v1/identity/impersonations';
    const begun = await begin<{ id: string; access_token: string }>('POST', path, body);
    const held = { userId, impersonationId: begun.id, credential: begun.access_token };
    return { ...organization, ...actor, ...held };
  }

  /** A user of the organization with a role, in a session of a client. */
  private async signedIn(
    organization: Pick<Tenant, 'organizationId' | 'call'>,
    roleId: string,
    amr: readonly string[] = ['fed'],
  ): Promise<Standing & { credential: string }> {
    const { organizationId, call } = organization;
    const domain = `${randomUUID()}.example`;
    const email = `somebody@${domain}`;
    const user = await call<{ id: string }>('POST', '/v1/identity/users', { email, name: 'Revocation' });
    // Nobody accepts an invitation here: the address is nobody's.
    await this.identity.query(`UPDATE users SET status = 'active' WHERE id = $1`, [user.id]);
    const membership = await call<{ id: string }>('POST', '/v1/identity/memberships', { user_id: user.id });
    const assigned = { membership_id: membership.id, role_id: roleId };
    const assignment = await call<{ id: string }>('POST', '/v1/identity/role-assignments', assigned);
    const client = await this.client(organization, { redirect_uris: ['https://app.example/'] });
    const connectionId = await this.connection(organization, domain);
    const whose = { organizationId, userId: user.id, clientId: client.id, connectionId, amr };
    const issued = await this.tokens.signIn(whose);
    const { sessionId, usedRefreshToken } = issued;
    return {
      roleId,
      credential: issued.token,
      userId: user.id,
      membershipId: membership.id,
      assignmentId: assignment.id,
      sessionId,
      clientId: client.id,
      connectionId,
      useCopy: async () => {
        const form = { grant_type: 'refresh_token', refresh_token: usedRefreshToken };
        const { error } = await this.tokenAnswer(client, form);
        if (error !== 'invalid_grant')
          throw new Error(`A copy of a refresh token was answered ${String(error)}.`);
      },
    };
  }

  /** A fresh organization with an OAuth client that has a token of its own, whose role may read in every module. */
  async withClient(): Promise<Tenant> {
    const organization = await this.organization();
    const roleId = await this.role(organization, 'machine', READ_PERMISSIONS);
    const client = await this.client(organization, { grant_types: ['client_credentials'], role_id: roleId });
    const { access_token: token } = await this.tokenAnswer(client, { grant_type: 'client_credentials' });
    if (token === undefined) throw new Error('A client got no token.');
    return { ...organization, roleId, clientId: client.id, credential: token };
  }

  /** An active SSO connection. Its provider is nobody, and no name server knows its domain: it is switched on by hand. */
  private async connection({ call }: Pick<Tenant, 'call'>, domain: string): Promise<string> {
    const { id } = await call<{ id: string }>('POST', '/v1/identity/sso-connections', {
      name: 'Revocation',
      protocol: 'oidc',
      issuer: 'https://idp.example',
      client_id: 'revocation',
      client_secret: randomUUID(),
      domains: [domain],
    });
    await this.identity.query(SWITCH_ON, [id]);
    return id;
  }

  private async client({ call }: Pick<Tenant, 'call'>, body: object): Promise<RegisteredClient> {
    const path = '/v1/identity/oauth-clients';
    return call('POST', path, { name: 'Revocation', type: 'confidential', ...body });
  }

  private async tokenAnswer(
    { id, client_secret: secret }: RegisteredClient,
    form: Record<string, string>,
  ): Promise<{ access_token?: string; error?: string }> {
    const answer = await fetch(`${this.platform.base_url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: id, client_secret: secret, ...form }),
    });
    return (await answer.json()) as { access_token?: string; error?: string };
  }

  private async organization(): Promise<Pick<Tenant, 'organizationId' | 'call' | 'above'>> {
    const above = this.caller(this.platform.admin_key);
    const slug = `revocation-${randomUUID().slice(0, 18)}`;
    const made = await above<{ id: string; api_key: { key: string } }>('POST', '/v1/identity/organizations', {
      name: 'Revocation',
      slug,
      issue_api_key: true,
    });
    return { organizationId: made.id, call: this.caller(made.api_key.key), above };
  }

  private async role(
    { call }: Pick<Tenant, 'call'>,
    kind: string,
    permissions: readonly string[],
    name = 'Revocation',
  ): Promise<string> {
    const role = await call<{ id: string }>('POST', '/v1/identity/roles', {
      name,
      kind,
      permissions,
    });
    return role.id;
  }

  private caller(key: string): Call {
    const platform = { ...this.platform, admin_key: key };
    return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const deadline = performance.now() + INSISTS_FOR_MS;
      for (;;) {
        const answer = await request(platform, method, path, body, { allow: [503] });
        if (answer.status !== 503) return answer.body as T;
        if (performance.now() > deadline) throw new Error(`${method} ${path}: 503 for 20 s`);
        await pause(50);
      }
    };
  }
}
