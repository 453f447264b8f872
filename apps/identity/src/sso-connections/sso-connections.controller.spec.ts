import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import {
  expectProblem,
  expectStatus,
  HOSTILE_LITERALS,
  type Answer,
  type Caller,
} from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { SessionBeginnings } from '../sessions/session-beginnings.js';
import { TestDns } from './dns-server.fixture.js';
import type { SsoConnectionDto } from './sso-connection.dto.js';
import { aDomain, anSsoConnection } from './sso-connection.fixture.js';

const CONNECTIONS = '/v1/identity/sso-connections';

/** What local mode may call. */
function isThisMachine(url: string): boolean {
  return /^(?:127\.|localhost|.*\.localhost|\[::1\]|\[::ffff:7f00:1\])/.test(new URL(url).hostname);
}

describe('SSO connections', () => {
  let bench: IdentityBench;
  let dns: TestDns;
  let provider: Server;
  let issuer: string;
  let metadata: object;
  let organization: TestOrganization;
  let admin: Caller;

  beforeAll(async () => {
    dns = await TestDns.start();
    provider = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${String((provider.address() as AddressInfo).port)}`;
    bench = await IdentityBench.start({ SSO_DNS_SERVERS: dns.address });
  });
  afterAll(async () => {
    await bench.end();
    provider.closeAllConnections();
    await new Promise<void>((resolve) => provider.close(() => resolve()));
    await dns.close();
  });
  beforeEach(async () => {
    metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    };
    organization = await bench.organization();
    admin = organization.admin;
  });

  const create = (body: object = {}, caller = admin): Promise<Answer<SsoConnectionDto>> =>
    caller.post(CONNECTIONS, anSsoConnection({ issuer, ...body }));
  const patch = (id: string, body: object, caller = admin): Promise<Answer<SsoConnectionDto>> =>
    caller.patch(`${CONNECTIONS}/${id}`, body);
  const made = async (body: object = {}, caller = admin): Promise<SsoConnectionDto> => {
    const answer = await create(body, caller);
    expectStatus(answer, 201);
    return answer.body;
  };
  const proven = async (body: object = {}, caller = admin): Promise<SsoConnectionDto> => {
    const connection = await made(body, caller);
    for (const proof of connection.domain_proofs) dns.publish(proof);
    return connection;
  };
  const activated = async (body: object = {}): Promise<SsoConnectionDto> => {
    const answer = await patch((await proven(body)).id, { status: 'active' });
    expectStatus(answer, 200);
    return answer.body;
  };
  const domainsOf = async (id: string): Promise<string[]> => {
    const rows = await bench.database.query<{ domain: string }>(
      'SELECT domain FROM sso_domains WHERE connection_id = $1 ORDER BY 1',
      [id],
    );
    return rows.map(({ domain }) => domain);
  };

  it('are found by the beginning of their names, ignoring case', async () => {
    const { id } = await made({ name: 'Warehouse' });
    await made({ name: 'Shop' });
    for (const [query, ids] of [
      ['name[prefix]=wAre', [id]],
      ['name=warehouse', [id]],
      ['name[prefix]=house', []],
    ] as const) {
      const { body } = await admin.get<{ data: SsoConnectionDto[] }>(`${CONNECTIONS}?${query}`);
      expect([query, body.data.map((each) => each.id)]).toEqual([query, ids]);
    }
  });

  describe('POST', () => {
    it('201 with a draft, its redirect URI and what proves its domains, and without the secret', async () => {
      const { status, body } = await create({ domains: ['Example.COM', 'bücher.example'] });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.any(String) as string,
        name: 'Somewhere else',
        protocol: 'oidc',
        issuer,
        client_id: 'platform',
        domains: ['example.com', 'xn--bcher-kva.example'],
        enforced: false,
        jit: false,
        jit_role_ids: [],
        status: 'draft',
        redirect_uri: expect.stringMatching(new RegExp(`/oauth/sso/callback/${body.id}$`)) as string,
        domain_proofs: ['example.com', 'xn--bcher-kva.example'].map((domain) => ({
          domain,
          name: `_customer-platform.${domain}`,
          value: expect.stringMatching(/^customer-platform-verification=[\w-]{43}$/) as string,
          status: 'pending',
          failing_since: null,
        })),
        created_at: expect.any(String) as string,
        updated_at: expect.any(String) as string,
        deleted_at: null,
      });
    });

    it('keeps the secret sealed and in no audit row, event or replayed answer', async () => {
      const secret = `secret-${newId()}`;
      const headers = { 'idempotency-key': newId() };
      const body = anSsoConnection({ issuer, client_secret: secret });
      expectStatus(await admin.post(CONNECTIONS, body, headers), 201);
      expectStatus(await admin.post(CONNECTIONS, body, headers), 201);
      const [row] = await bench.database.query<{ text: string; sealed: string }>(
        `SELECT coalesce((SELECT json_agg(o)::text FROM outbox o), '') || (SELECT json_agg(a)::text FROM audit_entries a)
             || (SELECT json_agg(c)::text FROM sso_connections c)
             || coalesce((SELECT json_agg(i)::text FROM idempotency_keys i), '') AS text,
                (SELECT string_agg(client_secret, ' ') FROM sso_connections) AS sealed`,
      );
      expect(row?.text).toContain('client_secret');
      expect(row?.text).not.toContain(secret);
      expect(row?.sealed).toMatch(/v[12]\./);
    });

    it.each([
      ['no domain', { domains: [] }, '/domains', 'too_short'],
      ['21 domains', { domains: Array.from({ length: 21 }, aDomain) }, '/domains', 'too_long'],
      ['one domain in two forms', { domains: ['a.example', 'A.EXAMPLE'] }, '/domains', 'duplicate_item'],
      ['an address for a domain', { domains: ['127.0.0.1'] }, '/domains', 'invalid_format'],
      ['one label', { domains: ['com'] }, '/domains', 'invalid_format'],
      ['a wildcard', { domains: ['*.example.com'] }, '/domains', 'invalid_format'],
      ['an address of a person', { domains: ['ana@example.com'] }, '/domains', 'invalid_format'],
      ['another protocol', { protocol: 'saml' }, '/protocol', 'invalid_enum'],
      ['an issuer that is no URL', { issuer: 'okta' }, '/issuer', 'invalid_format'],
      ['an issuer without TLS', { issuer: 'http://idp.example.com' }, '/issuer', 'invalid_format'],
      ['an issuer with a user', { issuer: 'https://a:b@idp.example.com' }, '/issuer', 'invalid_format'],
      ['an issuer with a query', { issuer: 'https://idp.example.com?a=1' }, '/issuer', 'invalid_format'],
      ['a secret that breaks lines', { client_secret: 'a\nb' }, '/client_secret', 'invalid_format'],
      ['a state', { status: 'active' }, '/status', 'immutable'],
      ['a redirect URI', { redirect_uri: 'https://evil.example' }, '/redirect_uri', 'immutable'],
    ])('400 for %s', async (_, fields, pointer, code) => {
      const problem = expectProblem(await create(fields), 400, 'validation_failed');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    });

    it('422 for an issuer at an address that is not public', async () => {
      const others = HOSTILE_LITERALS.filter((url) => !/[?#]/.test(url));
      for (const url of others.filter((each) => !isThisMachine(each))) {
        expectProblem(await create({ issuer: url }), 422, 'destination_not_allowed');
      }
    });

    it('422 for a role of another organization, 409 for one of machines, 400 for owner', async () => {
      const elsewhere = await bench.organization();
      const foreign = await bench.role(elsewhere.id, [], 'human');
      const problem = expectProblem(await create({ jit_role_ids: [foreign] }), 422, 'reference_not_found');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/jit_role_ids/0' })]);
      const machine = await bench.role(organization.id, [], 'machine');
      expectProblem(await create({ jit_role_ids: [machine] }), 409, 'role_kind_mismatch');
      const [owner] = await bench.within(organization.id, (tx) =>
        tx.query<{ id: string }>(
          `SELECT id FROM roles WHERE organization_id = $1 AND key = 'owner' AND kind = 'human'`,
          [organization.id],
        ),
      );
      const refused = expectProblem(await create({ jit_role_ids: [owner?.id] }), 400, 'validation_failed');
      expect(refused.errors).toEqual([
        expect.objectContaining({ pointer: '/jit_role_ids/0', code: 'not_allowed' }),
      ]);
    });

    it('403 for a role that may more than the caller', async () => {
      const role = await bench.role(organization.id, ['core.contacts.read', 'crm.notes.read'], 'human');
      const caller = await bench.caller(organization, ['identity.sso.create', 'crm.notes.read']);
      const problem = expectProblem(
        await create({ jit_role_ids: [role] }, caller),
        403,
        'privilege_escalation',
      );
      expect(problem['missing']).toEqual(['core.contacts.read']);
    });
  });

  describe('activation', () => {
    it('409 domain_unverified names what is not in DNS, until all of it is', async () => {
      const connection = await made({ domains: [aDomain(), aDomain()] });
      const [first, second] = connection.domain_proofs;
      if (!first || !second) throw new Error('there are two domains');
      const none = expectProblem(await patch(connection.id, { status: 'active' }), 409, 'domain_unverified');
      expect(none.errors?.map(({ pointer }) => pointer)).toEqual(['/domains/0', '/domains/1']);
      dns.publish(first);
      dns.publish({ name: second.name, value: first.value });
      const one = expectProblem(await patch(connection.id, { status: 'active' }), 409, 'domain_unverified');
      expect(one.errors?.map(({ pointer }) => pointer)).toEqual(['/domains/1']);
      expect(await domainsOf(connection.id)).toEqual([]);
      dns.publish(second);
      expect((await patch(connection.id, { status: 'active' })).body.status).toBe('active');
      expect(await domainsOf(connection.id)).toEqual([...connection.domains].sort());
    });

    it.each([
      ['issuer', () => ({ issuer: `${issuer}/other` })],
      ['client', () => ({ client_id: 'mine' })],
    ])('asks for another proof where the %s changes', async (_, changeOf) => {
      const change: { issuer?: string; client_id?: string } = changeOf();
      const connection = await activated();
      metadata = { ...metadata, issuer: change.issuer ?? issuer };
      const refused = expectProblem(await patch(connection.id, change), 409, 'domain_unverified');
      expect(refused.errors?.map(({ pointer }) => pointer)).toEqual(['/domains/0']);
      const [next] = (await made({ domains: connection.domains, ...change })).domain_proofs;
      if (!next) throw new Error('there is a domain');
      expect(refused.errors?.[0]?.detail).toContain(next.value);
      expect(next.value).not.toBe(connection.domain_proofs[0]?.value);
      dns.publish(next);
      const { body, status } = await patch(connection.id, change);
      expect([status, body.domain_proofs]).toEqual([
        200,
        [expect.objectContaining({ value: next.value, status: 'proven', failing_since: null })],
      ]);
    });

    it('takes no proof of another organization for the same domain', async () => {
      const domain = aDomain();
      await proven({ domains: [domain] });
      const other = await bench.organization();
      const connection = await made({ domains: [domain] }, other.admin);
      expectProblem(await patch(connection.id, { status: 'active' }, other.admin), 409, 'domain_unverified');
    });

    it('409 duplicate_value for a domain that leads elsewhere; of two organizations at once one is first', async () => {
      const others = [organization, await bench.organization(), await bench.organization()];
      const domain = aDomain();
      const connections = await Promise.all(
        others.map(({ admin: each }) => proven({ domains: [domain] }, each)),
      );
      const answers = await Promise.all(
        connections.map(({ id }, at) => patch(id, { status: 'active' }, others[at]?.admin)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const refused = answers.find(({ status }) => status === 409);
      const problem = expectProblem(refused as Answer<unknown>, 409, 'duplicate_value');
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/domains/0', code: 'duplicate_value' }),
      ]);
      const winner = connections[answers.findIndex(({ status }) => status === 200)];
      expect(JSON.stringify(problem)).not.toContain(winner?.id);
    });

    it('lets the next one have a domain once it is given up', async () => {
      const connection = await activated();
      const other = await bench.organization();
      const next = await proven({ domains: connection.domains }, other.admin);
      expectProblem(await patch(next.id, { status: 'active' }, other.admin), 409, 'duplicate_value');
      expectStatus(await patch(connection.id, { status: 'inactive' }), 200);
      expectStatus(await patch(next.id, { status: 'active' }, other.admin), 200);
      expectProblem(await patch(connection.id, { status: 'active' }), 409, 'duplicate_value');
    });

    it.each([
      ['names another issuer', () => ({ ...metadata, issuer: `${issuer}/` }), 'issuer differs'],
      ['has no keys', () => ({ ...metadata, jwks_uri: undefined }), 'endpoint missing'],
      [
        'sends browsers to a script',
        () => ({ ...metadata, authorization_endpoint: 'javascript:1' }),
        'endpoint missing',
      ],
      [
        'signs nothing',
        () => ({ ...metadata, id_token_signing_alg_values_supported: ['none', 'HS256'] }),
        'algorithm not supported',
      ],
      [
        'wants another authentication',
        () => ({ ...metadata, token_endpoint_auth_methods_supported: ['private_key_jwt'] }),
        'client authentication not supported',
      ],
      ['is without end', () => ({ ...metadata, filler: 'x'.repeat(300_000) }), 'answer too large'],
      ['is no object', () => [], 'no discovery document'],
    ])('400 for a discovery document that %s', async (_, changed, fault) => {
      const connection = await proven();
      metadata = changed();
      const problem = expectProblem(
        await patch(connection.id, { status: 'active' }),
        400,
        'validation_failed',
      );
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/issuer', detail: expect.stringContaining(fault) as string }),
      ]);
    });

    it('409 invalid_state for a draft that is to be switched off', async () => {
      const connection = await made();
      expectProblem(await patch(connection.id, { status: 'inactive' }), 409, 'invalid_state');
    });

    it('asks for the proof of a domain that is added while it is active, and keeps the others', async () => {
      const connection = await activated();
      const added = aDomain();
      const domains = [...connection.domains, added];
      expectProblem(await patch(connection.id, { domains }), 409, 'domain_unverified');
      dns.publish((await made({ domains: [added] })).domain_proofs[0] ?? { name: '', value: '' });
      for (const proof of connection.domain_proofs) dns.withdraw(proof);
      expectStatus(await patch(connection.id, { domains }), 200);
      expect(await domainsOf(connection.id)).toEqual([...domains].sort());
      expectStatus(await patch(connection.id, { domains: [added] }), 200);
      expect(await domainsOf(connection.id)).toEqual([added]);
    });

    it('403 for who could then be let in as somebody who may more', async () => {
      const domain = aDomain();
      const { userId } = await bench.signedIn(organization, 'owner');
      await bench.within(organization.id, (tx) =>
        tx.query('UPDATE users SET email = $2 WHERE id = $1', [userId, `${newId()}@${domain}`]),
      );
      const few: Permission[] = ['identity.sso.create', 'identity.sso.update', 'identity.sso.read'];
      const caller = await bench.caller(organization, few);
      const connection = await proven({ domains: [domain] }, caller);
      const problem = expectProblem(
        await patch(connection.id, { status: 'active' }, caller),
        403,
        'privilege_escalation',
      );
      expect(problem['missing']).toContain('identity.users.update');
      expectStatus(await patch(connection.id, { status: 'active' }), 200);
      for (const change of [
        { issuer: `${issuer}/other` },
        { client_id: 'mine' },
        { client_secret: 'mine' },
      ]) {
        if (change.issuer) metadata = { ...metadata, issuer: change.issuer };
        await proven({ domains: [domain], ...change }, caller);
        expectProblem(await patch(connection.id, change, caller), 403, 'privilege_escalation');
      }
      expectStatus(await patch(connection.id, { name: 'Renamed' }, caller), 200);
      expectStatus(await patch(connection.id, { status: 'inactive' }, caller), 200);
    });
  });

  describe('switched off', () => {
    const session = async ({ id: connectionId, domains }: SsoConnectionDto): Promise<{ userId: string }> => {
      const { userId } = await bench.signedIn(organization, 'analyst');
      await bench.within(organization.id, async (tx) => {
        await tx.query('UPDATE users SET email = $2 WHERE id = $1', [
          userId,
          `${userId}@${domains[0] ?? ''}`,
        ]);
        return bench.app.app.get(SessionBeginnings, { strict: false }).begin(tx, {
          userId,
          organizationId: organization.id,
          amr: ['fed'],
          correlationId: newId(),
          connectionId,
        });
      });
      return { userId };
    };

    it.each([
      ['set to inactive', (path: string) => admin.patch(path, { status: 'inactive' })],
      ['deleted', (path: string) => admin.delete(path)],
    ])('ends its sessions and no others: %s', async (_, switchOff) => {
      const connection = await activated();
      const { userId } = await session(connection);
      expect((await switchOff(`${CONNECTIONS}/${connection.id}`)).status).toBeLessThan(300);
      expect((await bench.endings(userId)).sort()).toEqual([null, null, 'revoked']);
      expect(await domainsOf(connection.id)).toEqual([]);
      await expect(session(connection)).rejects.toMatchObject({ code: 'sign_in_required' });
    });

    it('comes back from a deletion switched off', async () => {
      const connection = await activated();
      await admin.delete(`${CONNECTIONS}/${connection.id}`);
      const restored = await admin.post<SsoConnectionDto>(`${CONNECTIONS}/${connection.id}/restore`);
      expect([restored.status, restored.body.status]).toEqual([200, 'inactive']);
      expectStatus(await patch(connection.id, { status: 'active' }), 200);
    });
  });
});
