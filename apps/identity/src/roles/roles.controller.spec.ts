import { newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import {
  Caller,
  eventually,
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
} from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { startResources, type ResourceApp } from '../resource-app.fixture.js';
import { BUILT_IN_ROLES } from './built-in-roles.js';
import type { RoleDto } from './role.dto.js';

const ROLES = '/v1/identity/roles';

describe('a role', () => {
  let resources: ResourceApp;
  beforeAll(async () => {
    resources = await startResources();
  });
  afterAll(() => resources.close());

  itBehavesLikeASoftDeletableResource({
    app: () => resources.app,
    path: ROLES,
    permissions: {
      read: 'identity.roles.read',
      create: 'identity.roles.create',
      update: 'identity.roles.update',
      delete: 'identity.roles.delete',
      purge: 'identity.roles.purge',
    },
    body: async (number, organizationId) => {
      await resources.found(organizationId);
      return { name: `Role ${String(number)}`, kind: 'human' };
    },
    patch: (number) => ({ description: `Changed ${String(number)}` }),
    unique: 'name',
  });
});

describe('roles', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  let admin: Caller;
  beforeAll(async () => {
    bench = await IdentityBench.start();
  });
  afterAll(() => bench.end());
  beforeEach(async () => {
    organization = await bench.organization();
    admin = organization.admin;
  });

  const aRole = async (body: object = {}): Promise<RoleDto> => {
    const answer = await admin.post<RoleDto>(ROLES, { name: `Role ${newId()}`, kind: 'machine', ...body });
    expectStatus(answer, 201);
    return answer.body;
  };
  const replace = (caller: Caller, id: string, permissions: unknown, headers?: Record<string, string>) =>
    caller.call<RoleDto>('PUT', `${ROLES}/${id}/permissions`, {
      body: { permissions },
      ...(headers ? { headers } : {}),
    });
  const read = async (id: string): Promise<RoleDto> => (await admin.get<RoleDto>(`${ROLES}/${id}`)).body;
  const auditOf = (id: string) =>
    bench.database.query(
      'SELECT action, changed_fields FROM audit_entries WHERE organization_id = $1 AND resource_id = $2 ORDER BY id',
      [organization.id, id],
    );

  it('every organization begins with the built-in ones, which nobody changes', async () => {
    const { body } = await admin.get<Page<RoleDto>>(`${ROLES}?built_in=true&sort=name`);
    expect(body.data.map(({ name }) => name)).toEqual(BUILT_IN_ROLES.map(({ name }) => name).sort());
    for (const role of body.data) {
      const built = BUILT_IN_ROLES.find(({ key, kind }) => key === role.key && kind === role.kind);
      expect(role.permissions).toEqual([...(built?.permissions ?? [])].sort());
      const calls = [
        admin.patch(`${ROLES}/${role.id}`, { name: 'Mine' }),
        admin.delete(`${ROLES}/${role.id}`),
        replace(admin, role.id, []),
      ];
      for (const answer of await Promise.all(calls)) expectProblem(answer, 409, 'built_in_role');
    }
  });

  it('filters by kind, by built-in and by the beginning of the name', async () => {
    const mine = await aRole({ kind: 'human', name: 'Cashiers' });
    const ids = async (query: string): Promise<string[]> => {
      const { body } = await admin.get<Page<RoleDto>>(`${ROLES}?${query}`);
      return body.data.map(({ id }) => id);
    };
    expect(await ids('built_in=false&kind=human')).toEqual([mine.id]);
    expect(await ids('name[prefix]=cash')).toEqual([mine.id]);
    expect(await ids('name=CASHIERS')).toEqual([mine.id]);
    expect(await ids('name[prefix]=ashiers')).toEqual([]);
    expect(mine).toMatchObject({ built_in: false, key: null, permissions: [], description: null });
  });

  it.each([
    ['/permissions', 'invalid_enum', { permissions: ['core.contacts.reed'] }],
    ['/permissions', 'duplicate_item', { permissions: ['core.contacts.read', 'core.contacts.read'] }],
    ['/permissions', 'wrong_type', { permissions: 'core.contacts.read' }],
    ['/kind', 'invalid_enum', { kind: 'robot' }],
    ['/kind', 'required', { kind: undefined }],
    ['/name', 'too_long', { name: 'x'.repeat(81) }],
    ['/description', 'too_long', { description: 'x'.repeat(501) }],
    ['/key', 'immutable', { key: 'owner' }],
    ['/kinds', 'unknown_field', { kinds: 'human' }],
  ])('400 %s %s', async (pointer, code, override) => {
    const body = { name: 'Role', kind: 'machine', ...override };
    const problem = expectProblem(await admin.post(ROLES, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('400 immutable for the kind', async () => {
    const { id } = await aRole();
    const problem = expectProblem(
      await admin.patch(`${ROLES}/${id}`, { kind: 'machine' }),
      400,
      'validation_failed',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/kind', code: 'immutable' })]);
  });

  it('PUT permissions replaces the whole set, with one audit row; the same set again writes nothing', async () => {
    const { id } = await aRole({ permissions: ['core.contacts.read', 'core.events.read'] });
    const answer = await replace(admin, id, ['core.events.read', 'crm.notes.read']);
    expectStatus(answer, 200);
    expect(answer.body.permissions).toEqual(['core.events.read', 'crm.notes.read']);
    const again = await replace(admin, id, ['crm.notes.read', 'core.events.read']);
    expect(again.body).toEqual(answer.body);
    expect(await auditOf(id)).toEqual([
      { action: 'identity.roles.create', changed_fields: ['name', 'description', 'kind', 'permissions'] },
      { action: 'identity.roles.update', changed_fields: ['permissions'] },
    ]);
  });

  it('412 for another version, also of the permissions alone', async () => {
    const { id } = await aRole();
    const etag = (await admin.get(`${ROLES}/${id}`)).headers.get('etag') ?? '';
    const answers = await Promise.all(
      ['core.events.read', 'crm.notes.read'].map((permission) =>
        replace(admin, id, [permission], { 'If-Match': etag }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it('what is added must be the caller’s own; what is taken away need not', async () => {
    const held: Permission[] = [
      'identity.roles.create',
      'identity.roles.update',
      'identity.roles.delete',
      'core.contacts.read',
    ];
    const caller = await bench.caller(organization, held);
    const refused = expectProblem(
      await caller.post(ROLES, {
        name: 'More',
        kind: 'human',
        permissions: ['core.contacts.read', 'crm.notes.read'],
      }),
      403,
      'privilege_escalation',
    );
    expect(refused['missing']).toEqual(['crm.notes.read']);
    const { id } = await aRole({ permissions: ['crm.notes.read', 'crm.notes.create'] });
    const added = await replace(caller, id, ['crm.notes.read', 'crm.notes.update']);
    expect(expectProblem(added, 403, 'privilege_escalation')['missing']).toEqual(['crm.notes.update']);
    const removed = await replace(caller, id, ['crm.notes.read', 'core.contacts.read']);
    expectStatus(removed, 200);
    expectStatus(await caller.delete(`${ROLES}/${id}`), 204);
    const restored = expectProblem(await caller.post(`${ROLES}/${id}/restore`), 403, 'privilege_escalation');
    expect(restored['missing']).toEqual(['crm.notes.read']);
    expect((await read(id)).deleted_at).not.toBeNull();
  });

  it('a holder of everything but one cannot give that one, whichever it is', async () => {
    const lacking: Permission = 'core.contacts.read_national_id';
    const caller = await bench.caller(
      organization,
      PERMISSIONS.filter((permission) => permission !== lacking),
    );
    const body = { name: 'All', kind: 'machine', permissions: PERMISSIONS };
    expect(expectProblem(await caller.post(ROLES, body), 403, 'privilege_escalation')['missing']).toEqual([
      lacking,
    ]);
  });

  it('a key can do what its role permits, a second later at most: added, taken away, deleted, restored', async () => {
    const { id } = await aRole();
    const { body: issued } = await admin.post<{ key: string }>('/v1/identity/api-keys', {
      name: 'Key',
      role_id: id,
    });
    const key = new Caller(bench.app.url, issued.key);
    const becomes = (status: number) =>
      eventually(async () => {
        expect((await key.get('/v1/identity/permissions?limit=1')).status).toBe(status);
      });
    await becomes(403);
    await replace(admin, id, ['identity.permissions.read']);
    await becomes(200);
    await replace(admin, id, []);
    await becomes(403);
    await replace(admin, id, ['identity.permissions.read']);
    await becomes(200);
    expectStatus(await admin.delete(`${ROLES}/${id}`), 204);
    await becomes(403);
    expectStatus(await admin.post(`${ROLES}/${id}/restore`), 200);
    await becomes(200);
  });

  it('409 resource_referenced while a key of the role works, also by rotation; 204 once none does', async () => {
    const { id } = await aRole();
    const { body: key } = await admin.post<{ id: string }>('/v1/identity/api-keys', {
      name: 'Key',
      role_id: id,
    });
    const rotated = await admin.post<{ id: string }>(`/v1/identity/api-keys/${key.id}/rotate`, {
      expires_in: 0,
    });
    expectStatus(rotated, 200);
    await admin.delete(`${ROLES}/${id}`);
    const problem = expectProblem(await admin.delete(`${ROLES}/${id}/purge`), 409, 'resource_referenced');
    expect(problem['references']).toEqual([{ module: 'identity', resource: 'api_keys', count: 1 }]);
    const left = await bench.database.query<{ rotated_from_id: string | null }>(
      'SELECT rotated_from_id FROM api_keys WHERE role_id = $1 ORDER BY created_at',
      [id],
    );
    expect(left).toEqual([{ rotated_from_id: null }, { rotated_from_id: key.id }]);
    expectStatus(await admin.delete(`/v1/identity/api-keys/${rotated.body.id}`), 204);
    expectStatus(await admin.delete(`${ROLES}/${id}/purge`), 204);
  });

  it('a purged role leaves nothing of what it permitted', async () => {
    const { id } = await aRole({ permissions: ['crm.notes.read'] });
    await admin.delete(`${ROLES}/${id}`);
    expectStatus(await admin.delete(`${ROLES}/${id}/purge`), 204);
    expect(await bench.database.query('SELECT 1 FROM role_permissions WHERE role_id = $1', [id])).toEqual([]);
  });

  it('409 limit_reached beyond 200 roles, the built-in ones included', async () => {
    await bench.within(organization.id, (tx) =>
      tx.query(
        `INSERT INTO roles (organization_id, id, name, kind, created_at, updated_at)
         SELECT $1, gen_random_uuid(), 'Filler ' || n, 'human', now(), now()
           FROM generate_series(1, 200 - (SELECT count(*)::int FROM roles WHERE organization_id = $1)) AS n`,
        [organization.id],
      ),
    );
    const answer = await admin.post(ROLES, { name: 'One more', kind: 'human' });
    expect(expectProblem(answer, 409, 'limit_reached')['limit']).toBe(200);
  });
});
