import { itBehavesLikeASoftDeletableResource, expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { startResources, type ResourceApp } from '../resource-app.fixture.js';
import { hashClientSecret } from '../vocabulary/client-secret.js';
import type { OAuthClientDto, OAuthClientWithSecretDto } from './oauth-client.dto.js';

const CLIENTS = '/v1/identity/oauth-clients';
const WEB = { name: 'Web', type: 'confidential', redirect_uris: ['https://app.example/callback'] };

describe('an OAuth client', () => {
  let resources: ResourceApp;
  beforeAll(async () => {
    resources = await startResources();
  });
  afterAll(() => resources.close());

  itBehavesLikeASoftDeletableResource({
    app: () => resources.app,
    path: CLIENTS,
    permissions: {
      read: 'identity.oauth_clients.read',
      create: 'identity.oauth_clients.create',
      update: 'identity.oauth_clients.update',
      delete: 'identity.oauth_clients.delete',
      purge: 'identity.oauth_clients.purge',
    },
    body: async (number, organizationId) => {
      await resources.found(organizationId);
      // It asks for consent: one that does not is for who holds all that its people may do.
      const redirect_uris = ['https://app.example/'];
      return { name: `Client ${String(number)}`, type: 'public', redirect_uris, organizations: 'tree' };
    },
    patch: (number) => ({ name: `Changed ${String(number)}` }),
  });
});

describe('OAuth clients', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  beforeAll(async () => {
    bench = await IdentityBench.start();
  });
  afterAll(() => bench.end());
  beforeEach(async () => {
    organization = await bench.organization();
  });

  const create = (body: object) => organization.admin.post<OAuthClientWithSecretDto>(CLIENTS, body);
  const secretHashOf = async (id: string) => {
    const rows = await bench.database.query<{ secret_hash: string | null }>(
      'SELECT secret_hash FROM oauth_clients WHERE id = $1',
      [id],
    );
    return rows[0]?.secret_hash;
  };

  it('shows the secret of a confidential one once, and keeps its hash alone', async () => {
    const created = await create(WEB);
    expectStatus(created, 201);
    const { id, client_secret: secret = '', ...rest } = created.body;
    expect(secret).toMatch(/^cps_[\w-]{43}$/);
    expect(rest).toMatchObject({
      grant_types: ['authorization_code', 'refresh_token'],
      require_pkce: true,
      organizations: 'own',
      role_id: null,
      refresh_grace_seconds: 0,
    });
    expect(await secretHashOf(id)).toBe(hashClientSecret(secret));
    const read = await organization.admin.get<OAuthClientDto>(`${CLIENTS}/${id}`);
    expect(JSON.stringify(read.body)).not.toContain('secret');
    const audited = await bench.database.query(
      'SELECT action, changed_fields FROM audit_entries WHERE resource_id = $1',
      [id],
    );
    expect(JSON.stringify(audited)).not.toContain(secret);
    expect(audited).toMatchObject([{ action: 'identity.oauth_clients.create' }]);
  });

  it('filters by the beginning of the name, ignoring case', async () => {
    for (const name of ['Shop', 'Warehouse']) expectStatus(await create({ ...WEB, name }), 201);
    const names = async (query: string): Promise<string[]> => {
      const { body } = await organization.admin.get<{ data: OAuthClientDto[] }>(`${CLIENTS}?${query}`);
      return body.data.map(({ name }) => name);
    };
    expect(await names('name[prefix]=sHO')).toEqual(['Shop']);
    expect(await names('name=warehouse')).toEqual(['Warehouse']);
    expect(await names('name[prefix]=hop')).toEqual([]);
  });

  it('has no secret if it is public', async () => {
    const { body } = await create({ ...WEB, type: 'public' });
    expect(body.client_secret).toBeUndefined();
    expect(await secretHashOf(body.id)).toBeNull();
    const rotated = await organization.admin.patch(`${CLIENTS}/${body.id}`, { rotate_secret: true });
    expectProblem(rotated, 400, 'validation_failed');
  });

  it('replaces the secret at once', async () => {
    const { body } = await create(WEB);
    const path = `${CLIENTS}/${body.id}`;
    const rotated = await organization.admin.patch<OAuthClientWithSecretDto>(path, { rotate_secret: true });
    expectStatus(rotated, 200);
    const { client_secret: secret = '' } = rotated.body;
    expect(secret).not.toBe(body.client_secret);
    expect(await secretHashOf(body.id)).toBe(hashClientSecret(secret));
    const renamed = await organization.admin.patch<OAuthClientWithSecretDto>(path, { name: 'Renamed' });
    expect(renamed.body.client_secret).toBeUndefined();
    expect(await secretHashOf(body.id)).toBe(hashClientSecret(secret));
  });

  it.each<[string, object, string]>([
    ['http to another host', { redirect_uris: ['http://app.example/'] }, '/redirect_uris/0'],
    ['a fragment', { redirect_uris: ['https://app.example/#x'] }, '/redirect_uris/0'],
    ['an empty fragment', { redirect_uris: ['https://app.example/#'] }, '/redirect_uris/0'],
    ['a wildcard', { redirect_uris: ['https://*.app.example/'] }, '/redirect_uris/0'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, '/redirect_uris/0'],
    ['a scheme of its own', { redirect_uris: ['com.example.app:/callback'] }, '/redirect_uris/0'],
    ['a user', { redirect_uris: ['https://good.example@bad.example/'] }, '/redirect_uris/0'],
    ['a backslash', { redirect_uris: ['https://good.example\\@bad.example/'] }, '/redirect_uris/0'],
    ['a line end', { redirect_uris: ['https://app.example/\ncallback'] }, '/redirect_uris/0'],
    ['a path alone', { redirect_uris: ['/callback'] }, '/redirect_uris/0'],
    ['no redirect URI for a code', { redirect_uris: [] }, '/redirect_uris'],
    [
      'a bad one after signing out',
      { post_logout_redirect_uris: ['http://x.example'] },
      '/post_logout_redirect_uris/0',
    ],
    ['refresh without code', { grant_types: ['refresh_token'] }, '/grant_types'],
    ['client credentials without a role', { grant_types: ['client_credentials'] }, '/role_id'],
  ])('400 for %s', async (_, wrong, pointer) => {
    const { body, status } = await create({ ...WEB, ...wrong });
    const { code, errors = [] } = body as unknown as { code: string; errors: { pointer: string }[] };
    expect([status, code]).toEqual([400, 'validation_failed']);
    expect(errors.map((error) => error.pointer)).toContain(pointer);
  });

  it('400 for a public one without PKCE or by client credentials, which keeps no secret', async () => {
    const open = { ...WEB, type: 'public' };
    expectProblem(await create({ ...open, require_pkce: false }), 400, 'validation_failed');
    const role_id = await bench.role(organization.id, []);
    const machine = { ...open, grant_types: ['client_credentials'], role_id };
    expectProblem(await create(machine), 400, 'validation_failed');
    expectStatus(
      await create({ ...open, redirect_uris: ['http://127.0.0.1:7777/cb', 'http://[::1]/cb'] }),
      201,
    );
  });

  it('400 for one that is an application and a site: two clients are', async () => {
    const own = 'com.example.app:/callback';
    const mixed = { ...WEB, type: 'public', redirect_uris: [own, 'https://app.example/callback'] };
    expect(expectProblem(await create(mixed), 400, 'validation_failed')).toMatchObject({
      errors: [{ pointer: '/redirect_uris/0', detail: expect.stringContaining('two clients') as string }],
    });
    const { body } = await create({ ...mixed, redirect_uris: [own], post_logout_redirect_uris: [] });
    const bye = { post_logout_redirect_uris: ['https://app.example/bye'] };
    expectProblem(await organization.admin.patch(`${CLIENTS}/${body.id}`, bye), 400, 'validation_failed');
    const here = { post_logout_redirect_uris: ['http://127.0.0.1/bye', own] };
    expectStatus(await organization.admin.patch(`${CLIENTS}/${body.id}`, here), 200);
  });

  it('holds a PATCH to what the client is after it', async () => {
    const { body } = await create(WEB);
    const path = `${CLIENTS}/${body.id}`;
    expectProblem(await organization.admin.patch(path, { redirect_uris: [] }), 400, 'validation_failed');
    expectProblem(await organization.admin.patch(path, { type: 'public' }), 400, 'validation_failed');
    const role_id = await bench.role(organization.id, ['core.events.write']);
    expectProblem(await organization.admin.patch(path, { role_id }), 400, 'validation_failed');
    const machine = { grant_types: ['client_credentials'], redirect_uris: [], role_id };
    expectStatus(await organization.admin.patch(path, machine), 200);
    expectProblem(
      await organization.admin.delete(`/v1/identity/roles/${role_id}/purge`),
      409,
      'not_soft_deleted',
    );
    expectStatus(await organization.admin.delete(`/v1/identity/roles/${role_id}`), 204);
    expectProblem(
      await organization.admin.delete(`/v1/identity/roles/${role_id}/purge`),
      409,
      'resource_referenced',
    );
  });

  it('takes machine roles of the organization alone', async () => {
    const machine = { name: 'Machine', type: 'confidential', grant_types: ['client_credentials'] };
    const human = await bench.role(organization.id, [], 'human');
    expectProblem(await create({ ...machine, role_id: human }), 409, 'role_kind_mismatch');
    const other = await bench.organization();
    const foreign = await bench.role(other.id, []);
    expectProblem(await create({ ...machine, role_id: foreign }), 422, 'reference_not_found');
  });
});
