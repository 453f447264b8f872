import { generateKeyPairSync } from 'node:crypto';
import { newId } from '@customer-platform/database';
import type { Page } from '@customer-platform/http';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import { Caller, eventually, expectProblem, expectStatus, kafkaProbe } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { CreatedOrganizationDto, OrganizationDto } from './organization.dto.js';
import { OrganizationPeers } from './organization-peers.fixture.js';

const ORGANIZATIONS = '/v1/identity/organizations';

let peers: OrganizationPeers;
let bench: IdentityBench;
let parent: TestOrganization;
let number = 0;
beforeAll(async () => {
  peers = await OrganizationPeers.start();
  bench = await IdentityBench.start(peers.env);
});
afterAll(async () => {
  await bench.end();
  await peers.close();
});
beforeEach(async () => {
  parent = await bench.organization();
});

const aBody = (override: object = {}): object => {
  number += 1;
  return { name: `Child ${String(number)}`, slug: `child-${String(number)}`, ...override };
};
const at = (id: string, suffix = ''): string => `${ORGANIZATIONS}/${id}${suffix}`;

async function found(caller: Caller, override: object = {}): Promise<CreatedOrganizationDto> {
  const answer = await caller.post<CreatedOrganizationDto>(ORGANIZATIONS, aBody(override));
  expectStatus(answer, 201);
  return answer.body;
}

/** A child with a key that may do everything in it, which is known everywhere. */
async function withKey(caller: Caller): Promise<{ child: CreatedOrganizationDto; admin: Caller }> {
  const child = await found(caller, { issue_api_key: true });
  const admin = new Caller(bench.app.url, child.api_key?.key ?? '');
  await eventually(async () => expect((await admin.get(at(child.id))).status).toBe(200));
  return { child, admin };
}

describe('POST /v1/identity/organizations', () => {
  it('founds one below the caller’s, with its language and zone, the defaults and the built-in roles', async () => {
    const { body: own } = await parent.admin.get<OrganizationDto>(at(parent.id));
    const answer = await parent.admin.post<OrganizationDto>(
      ORGANIZATIONS,
      aBody({ slug: 'first-of-all', locale: 'es-cl' }),
    );
    expectStatus(answer, 201);
    const { body: child } = answer;
    expect(child).toMatchObject({
      parent_id: parent.id,
      slug: 'first-of-all',
      status: 'active',
      locale: 'es-CL',
      timezone: own.timezone,
      settings: {
        rate_limits: { key_per_second: 1_000, organization_per_second: 2_000 },
        mfa_policy: 'optional',
        session: { idle_minutes: 30, absolute_hours: 12 },
        member_jwks: { keys: [] },
        branding: { color: null, logo_url: null },
      },
      deleted_at: null,
    });
    expect(child).not.toHaveProperty('api_key');
    expect(answer.headers.get('location')).toBe(at(child.id));
    expect((await parent.admin.get(at(child.id))).body).toEqual(child);
    const roles = await bench.database.query('SELECT id FROM roles WHERE organization_id = $1', [child.id]);
    expect(roles).toHaveLength(7);
  });

  it('with a first key, shown once, which may do everything there and is on record', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const body = aBody({ issue_api_key: true });
    const first = await parent.admin.post<CreatedOrganizationDto>(ORGANIZATIONS, body, headers);
    expectStatus(first, 201);
    const again = await parent.admin.post<CreatedOrganizationDto>(ORGANIZATIONS, body, headers);
    const { api_key: key, ...rest } = first.body;
    expect(again.body).toEqual(rest);
    const admin = new Caller(bench.app.url, key?.key ?? '');
    await eventually(async () => expect((await admin.get(at(rest.id))).status).toBe(200));
    const entries = await bench.database.query(
      'SELECT organization_id, action FROM audit_entries WHERE resource_id = ANY ($1::text[]) ORDER BY action',
      [[rest.id, key?.id]],
    );
    expect(entries).toEqual([
      { organization_id: rest.id, action: 'identity.api_keys.create' },
      { organization_id: parent.id, action: 'identity.organizations.create' },
    ]);
  });

  it('403 privilege_escalation for a first key by who does not hold everything', async () => {
    const lacking: Permission = 'core.contacts.purge';
    const caller = await bench.caller(
      parent,
      PERMISSIONS.filter((permission) => permission !== lacking),
    );
    const problem = expectProblem(
      await caller.post(ORGANIZATIONS, aBody({ issue_api_key: true })),
      403,
      'privilege_escalation',
    );
    expect(problem['missing']).toEqual([lacking]);
    expectStatus(await caller.post(ORGANIZATIONS, aBody()), 201);
  });

  it('409 duplicate_value for a slug that any active organization has, however far away', async () => {
    const { slug } = await found(parent.admin);
    const other = await bench.organization();
    const problem = expectProblem(
      await other.admin.post(ORGANIZATIONS, aBody({ slug })),
      409,
      'duplicate_value',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/slug', code: 'duplicate_value' })]);
    expect(problem).not.toHaveProperty('conflicting_id');
  });

  it('of twenty at once with one slug, one is founded', async () => {
    const body = aBody();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => parent.admin.post(ORGANIZATIONS, body)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
  });

  it('409 limit_reached below the fifth level', async () => {
    let { admin } = parent; // the second level: the root is the first
    for (const level of [3, 4, 5]) {
      expect(level).toBeLessThan(6);
      ({ admin } = await withKey(admin));
    }
    expect(expectProblem(await admin.post(ORGANIZATIONS, aBody()), 409, 'limit_reached')['limit']).toBe(5);
  });

  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const keys = (...list: object[]) => ({ settings: { member_jwks: { keys: list } } });

  it.each<[string, string, object]>([
    ['/name', 'required', { name: undefined }],
    ['/name', 'too_long', { name: 'x'.repeat(81) }],
    ['/slug', 'invalid_format', { slug: 'Tiendas' }],
    ['/slug', 'invalid_format', { slug: 'ab' }],
    // By which one could be taken for another.
    ['/slug', 'invalid_format', { slug: newId() }],
    ['/locale', 'invalid_format', { locale: 'es_CL!' }],
    ['/timezone', 'invalid_format', { timezone: '+03:00' }],
    ['/timezone', 'invalid_format', { timezone: 'Mars/Olympus' }],
    ['/parent_id', 'immutable', { parent_id: newId() }],
    ['/status', 'immutable', { status: 'suspended' }],
    [
      '/settings/rate_limits/key_per_second',
      'out_of_range',
      { settings: { rate_limits: { key_per_second: 0 } } },
    ],
    ['/settings/session/idle_minutes', 'out_of_range', { settings: { session: { idle_minutes: 61 } } }],
    ['/settings/mfa_policy', 'invalid_enum', { settings: { mfa_policy: 'maybe' } }],
    ['/settings/branding/color', 'invalid_format', { settings: { branding: { color: 'red' } } }],
    ...[
      'http://a.example/l.png',
      'javascript:alert(1)',
      'data:image/png;base64,',
      'https://u:p@a.example/l.png',
      'https://a.example/l.png#x',
      'https://a.example/l png',
      'https://a.example;sandbox/l.png',
      `https://a.example/${'l'.repeat(500)}`,
      7,
    ].map((logo_url): [string, string, object] => [
      '/settings/branding/logo_url',
      'invalid_format',
      { settings: { branding: { logo_url } } },
    ]),
    ['/settings/misspelt', 'unknown_field', { settings: { misspelt: 1 } }],
    ['/settings/member_jwks/keys', 'invalid_format', keys({ ...jwk, kid: 'a' }, { ...jwk, kid: 'a' })],
  ])('400 %s %s', async (pointer, code, override) => {
    const problem = expectProblem(
      await parent.admin.post(ORGANIZATIONS, aBody(override)),
      400,
      'validation_failed',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('keeps of a member key what verifies, and nothing else', async () => {
    const { child, admin } = await withKey(parent.admin);
    const given = keys({ ...jwk, kid: 'one', use: 'sig', note: 'mine' });
    const { body } = await admin.patch<OrganizationDto>(at(child.id), given);
    const { x, y } = jwk;
    expect(body.settings.member_jwks.keys).toEqual([
      { kty: 'EC', kid: 'one', alg: 'ES256', crv: 'P-256', x, y },
    ]);
  });
});

describe('reach', () => {
  it('one’s own and those below, to read and write; the parent, a sibling and nobody alike are 404', async () => {
    const { child, admin } = await withKey(parent.admin);
    const grandchild = await found(admin);
    const sibling = await found(parent.admin);
    const seen = async (caller: Caller): Promise<string[]> => {
      const { body } = await caller.get<Page<OrganizationDto>>(`${ORGANIZATIONS}?sort=created_at`);
      return body.data.map(({ id }) => id);
    };
    expect(await seen(admin)).toEqual([child.id, grandchild.id]);
    expect(await seen(parent.admin)).toEqual([parent.id, child.id, grandchild.id, sibling.id]);
    expectStatus(await parent.admin.patch(at(grandchild.id), { name: 'Renamed from above' }), 200);
    const bodies = [];
    for (const id of [parent.id, sibling.id, newId()]) {
      for (const answer of [
        await admin.get(at(id)),
        await admin.patch(at(id), { name: 'Mine' }),
        await admin.delete(at(id)),
        await admin.post(at(id, '/restore')),
        await admin.delete(at(id, '/purge')),
      ]) {
        const { instance: _, correlation_id: __, ...rest } = expectProblem(answer, 404, 'not_found');
        bodies.push(rest);
      }
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    const { body } = await parent.admin.get<OrganizationDto>(at(sibling.id));
    expect(body).toEqual(sibling);
  });

  it('filters by parent, status, slug and the beginning of the name, below one’s own', async () => {
    const first = await found(parent.admin, { name: 'Andes' });
    const second = await found(parent.admin, { name: 'Andacollo' });
    await found(parent.admin, { name: 'Biobío' });
    await parent.admin.patch(at(second.id), { status: 'suspended' });
    const ids = async (query: string): Promise<string[]> => {
      const { body } = await parent.admin.get<Page<OrganizationDto>>(
        `${ORGANIZATIONS}?sort=created_at&${query}`,
      );
      return body.data.map(({ id }) => id);
    };
    expect(await ids('name[prefix]=And')).toEqual([first.id, second.id]);
    expect(await ids('name[prefix]=andA')).toEqual([second.id]);
    expect(await ids('status=suspended')).toEqual([second.id]);
    expect(await ids(`slug=${first.slug}`)).toEqual([first.id]);
    expect(await ids(`parent_id=${parent.id}&limit=2`)).toEqual([first.id, second.id]);
    expectProblem(await parent.admin.get(`${ORGANIZATIONS}?named=x`), 400, 'unknown_parameter');
  });
});

describe('PATCH /v1/identity/organizations/{id}', () => {
  it('merges settings; null brings the default back; the same again changes nothing', async () => {
    const { id } = await found(parent.admin, {
      settings: { session: { idle_minutes: 10, absolute_hours: 2 } },
    });
    const patch = { settings: { session: { idle_minutes: null }, mfa_policy: 'required' } };
    const { body } = await parent.admin.patch<OrganizationDto>(at(id), patch);
    expect(body.settings).toMatchObject({
      session: { idle_minutes: 30, absolute_hours: 2 },
      mfa_policy: 'required',
    });
    expect((await parent.admin.patch<OrganizationDto>(at(id), patch)).body).toEqual(body);
  });

  it('status and rate limits are an ancestor’s to say: 403 ancestor_required for one’s own', async () => {
    const { child, admin } = await withKey(parent.admin);
    for (const body of [{ status: 'suspended' }, { settings: { rate_limits: { key_per_second: 9 } } }])
      expectProblem(await admin.patch(at(child.id), body), 403, 'ancestor_required');
    for (const answer of [
      await admin.delete(at(child.id)),
      await admin.post(at(child.id, '/restore')),
      await admin.delete(at(child.id.toUpperCase(), '/purge')),
    ])
      expectProblem(answer, 403, 'ancestor_required');
    expectStatus(await admin.patch(at(child.id), { name: 'Our own name' }), 200);
    const answer = await parent.admin.patch<OrganizationDto>(at(child.id), {
      settings: { rate_limits: { key_per_second: 9 } },
    });
    expect(answer.body.settings.rate_limits).toEqual({ key_per_second: 9, organization_per_second: 2_000 });
  });

  it('400 immutable for slug and parent; 412 for another version', async () => {
    const { id, slug } = await found(parent.admin);
    for (const body of [{ slug }, { parent_id: parent.id }])
      expectProblem(await parent.admin.patch(at(id), body), 400, 'validation_failed');
    expectProblem(
      await parent.admin.patch(at(id), { name: 'Late' }, { 'If-Match': '"other"' }),
      412,
      'etag_mismatch',
    );
  });

  it('suspended: its credentials get 403 organization_suspended within a second, until it is active again', async () => {
    const { child, admin } = await withKey(parent.admin);
    expectStatus(await parent.admin.patch(at(child.id), { status: 'suspended' }), 200);
    await eventually(async () => {
      expectProblem(await admin.get(at(child.id)), 403, 'organization_suspended');
    });
    expectStatus(await parent.admin.patch(at(child.id), { status: 'active' }), 200);
    await eventually(async () => expectStatus(await admin.get(at(child.id)), 200));
  });
});

describe('the end of an organization', () => {
  it('deleted: 401 for its credentials, until it is restored', async () => {
    const { child, admin } = await withKey(parent.admin);
    expectStatus(await parent.admin.delete(at(child.id)), 204);
    expectStatus(await parent.admin.delete(at(child.id)), 204);
    await eventually(async () => expectProblem(await admin.get(at(child.id)), 401, 'invalid_token'));
    expectProblem(await parent.admin.patch(at(child.id), { name: 'New' }), 409, 'resource_deleted');
    expectStatus(await parent.admin.post(at(child.id, '/restore')), 200);
    await eventually(async () => expectStatus(await admin.get(at(child.id)), 200));
    expectProblem(await parent.admin.post(at(child.id, '/restore')), 409, 'not_deleted');
  });

  it('409 has_children while one below is active; 409 invalid_state for a child of a deleted one', async () => {
    const { child, admin } = await withKey(parent.admin);
    const grandchild = await found(admin);
    expectProblem(await parent.admin.delete(at(child.id)), 409, 'has_children');
    expectStatus(await parent.admin.delete(at(grandchild.id)), 204);
    expectStatus(await parent.admin.delete(at(child.id)), 204);
    expectProblem(await parent.admin.post(at(grandchild.id, '/restore')), 409, 'invalid_state');
  });

  it('of a deletion and a founding below it at once, never both succeed', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { child, admin } = await withKey(parent.admin);
      const [deleted, founded] = await Promise.all([
        parent.admin.delete(at(child.id)),
        admin.post<OrganizationDto>(ORGANIZATIONS, aBody()),
      ]);
      expect([deleted.status, founded.status]).not.toEqual([204, 201]);
    }
  });

  it('409 restore_conflict when the slug was taken since, naming the taker only to who may see it', async () => {
    const mine = await found(parent.admin);
    await parent.admin.delete(at(mine.id));
    const taker = await found(parent.admin, { slug: mine.slug });
    const told = expectProblem(await parent.admin.post(at(mine.id, '/restore')), 409, 'restore_conflict');
    expect(told['conflicting_id']).toBe(taker.id);
    const other = await bench.organization();
    const theirs = await found(other.admin);
    await other.admin.delete(at(theirs.id));
    await found(parent.admin, { slug: theirs.slug });
    const untold = expectProblem(await other.admin.post(at(theirs.id, '/restore')), 409, 'restore_conflict');
    expect(untold).not.toHaveProperty('conflicting_id');
  });
});

describe('identity.organization events', () => {
  it('are the changed organization’s, whoever changed it; the audit rows are the actor’s', async () => {
    const probe = kafkaProbe(bench.app);
    probe.collect('identity');
    const child = await found(parent.admin);
    await parent.admin.patch(at(child.id), { name: 'Renamed' });
    await parent.admin.patch(at(child.id), { status: 'suspended' });
    await parent.admin.patch(at(child.id), { status: 'active' });
    await parent.admin.delete(at(child.id));
    await parent.admin.delete(at(child.id, '/purge'));
    await probe.expectEvents('identity.organization.purged.v1', child.id, 1);
    const told = [
      ['created', []],
      ['updated', ['name']],
      ['suspended', ['status']],
      ['reactivated', ['status']],
    ] as const;
    for (const [verb, changed] of told) {
      const [event] = probe.events(`identity.organization.${verb}.v1`, child.id);
      expect(event?.data).toMatchObject({
        organization_id: child.id,
        id: child.id,
        slug: child.slug,
        changed,
      });
    }
    const entries = await bench.database.query<{ action: string }>(
      'SELECT action FROM audit_entries WHERE organization_id = $1 AND resource_id = $2 ORDER BY id',
      [parent.id, child.id],
    );
    expect(entries.map(({ action }) => action.split('.')[2])).toEqual([
      'create',
      'update',
      'update',
      'update',
      'delete',
      'purge',
    ]);
  });
});
