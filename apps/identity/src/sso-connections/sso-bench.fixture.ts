import { createHash, randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { TestDns } from './dns-server.fixture.js';
import { DomainProofs } from './domain-proofs.js';
import type { SsoConnectionDto } from './sso-connection.dto.js';
import { aDomain, anSsoConnection } from './sso-connection.fixture.js';
import { SsoSignIn, type SsoArrival } from './sso-sign-in.js';

const CONNECTIONS = '/v1/identity/sso-connections';

/** A browser, as the platform knows it by its cookie. */
export const aBrowser = (): Buffer => createHash('sha256').update(randomUUID()).digest();

/** An active connection with what tests need of it. */
export interface TestConnection {
  readonly organization: TestOrganization;
  readonly id: string;
  readonly domain: string;
  readonly redirectUri: string;
}

/** Identity with a name server of its own, for sign-ins by providers. */
export class SsoBench {
  private constructor(
    readonly identity: IdentityBench,
    readonly dns: TestDns,
  ) {}

  static async start(
    start: (variables: Record<string, string>) => Promise<IdentityBench> = (variables) =>
      IdentityBench.start(variables),
  ): Promise<SsoBench> {
    const dns = await TestDns.start();
    return new SsoBench(await start({ SSO_DNS_SERVERS: dns.address }), dns);
  }

  async end(): Promise<void> {
    await this.identity.end();
    await this.dns.close();
  }

  get sso(): SsoSignIn {
    return this.identity.app.app.get(SsoSignIn, { strict: false });
  }

  /** An active connection of an organization. */
  async connection(
    issuer: string,
    fields: object = {},
    organization?: TestOrganization,
  ): Promise<TestConnection> {
    const owner = organization ?? (await this.identity.organization());
    const domain = aDomain();
    const body = anSsoConnection({ issuer, domains: [domain], ...fields });
    const made = await owner.admin.post<SsoConnectionDto>(CONNECTIONS, body);
    expectStatus(made, 201);
    for (const proof of made.body.domain_proofs) this.dns.publish(proof);
    const { id, redirect_uri: redirectUri } = made.body;
    await this.set({ organization: owner, id }, { status: 'active' });
    return { organization: owner, id, domain, redirectUri };
  }

  /** Changes it, once its domains are proven to the provider that it then has. */
  async set(
    { organization, id }: Pick<TestConnection, 'organization' | 'id'>,
    change: object,
  ): Promise<void> {
    const { body } = await organization.admin.get<SsoConnectionDto>(`${CONNECTIONS}/${id}`);
    const { issuer = body.issuer, client_id: clientId = body.client_id }: Partial<SsoConnectionDto> = change;
    const proofs = this.identity.app.app.get(DomainProofs, { strict: false });
    for (const proof of proofs.of({ organizationId: organization.id, issuer, clientId }, body.domains))
      this.dns.publish(proof);
    expectStatus(await organization.admin.patch(`${CONNECTIONS}/${id}`, change), 200);
  }

  begin(
    { id, organization }: TestConnection,
    browserHash: Buffer,
    loginHint?: string,
    uid = `interaction-${id}`,
  ): Promise<URL> {
    const asked = { uid, client: { organizationId: organization.id } };
    return this.sso.begin(asked, id, { browserHash, ...(loginHint === undefined ? {} : { loginHint }) });
  }

  finish(callback: URL, browserHash: Buffer | undefined): Promise<SsoArrival> {
    const connectionId = callback.pathname.split('/').at(-1) ?? '';
    const parameters = callback.searchParams;
    return this.sso.finish({ connectionId, parameters }, () => browserHash, { correlationId: newId() });
  }

  /** Somebody at home in an organization, with this address. */
  async person(organizationId: string, email: string): Promise<string> {
    const userId = await this.identity.person(organizationId);
    await this.identity.within(organizationId, (tx) =>
      tx.query('UPDATE users SET email = $2 WHERE id = $1', [userId, email]),
    );
    return userId;
  }

  /** What is known of a user. */
  async user(userId: string): Promise<Record<string, unknown>> {
    const [row] = await this.identity.database.query<Record<string, unknown>>(
      `SELECT u.email, u.name, u.locale, u.status, u.email_verified, u.organization_id AS home, u.password_hash,
              (SELECT json_agg(m.organization_id) FROM memberships m WHERE m.user_id = u.id) AS member_of,
              (SELECT json_agg(a.role_id) FROM memberships m JOIN role_assignments a ON a.membership_id = m.id
                WHERE m.user_id = u.id) AS roles
         FROM users u WHERE u.id = $1`,
      [userId],
    );
    return row ?? {};
  }
}
