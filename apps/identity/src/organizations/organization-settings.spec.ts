import { randomUUID } from 'node:crypto';
import { hashApiKey } from '@customer-platform/authorization';
import type { RetentionPage } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { Caller, eventually, expectProblem, expectStatus, peerModule } from '@customer-platform/testing';
import { DatabaseAuthorizationSource } from '../authorization/database-authorization.source.js';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aMemberKey } from '../roles/ways-to-give.fixture.js';
import type { CreatedOrganizationDto, OrganizationDto } from './organization.dto.js';
import { defaultMfaPolicy } from '../vocabulary/organizations/organization-settings.js';

const ORGANIZATIONS = '/v1/identity/organizations';

let bench: IdentityBench;
let parent: TestOrganization;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  parent = await bench.organization();
});

const aBody = (override: object = {}): object => ({
  name: 'Child',
  slug: `child-${randomUUID()}`,
  ...override,
});
const at = (id: string): string => `${ORGANIZATIONS}/${id}`;

async function found(caller: Caller, override: object = {}): Promise<CreatedOrganizationDto> {
  const answer = await caller.post<CreatedOrganizationDto>(ORGANIZATIONS, aBody(override));
  expectStatus(answer, 201);
  return answer.body;
}

/** A child with a key that may do everything in it, which is known. */
async function withKey(
  caller: Caller,
  override: object = {},
): Promise<{ child: CreatedOrganizationDto; admin: Caller }> {
  const child = await found(caller, { issue_api_key: true, ...override });
  const admin = new Caller(bench.app.url, child.api_key?.key ?? '');
  await eventually(async () => expect((await admin.get(at(child.id))).status).toBe(200));
  return { child, admin };
}

describe('settings.member_jwks', () => {
  const given = { settings: { member_jwks: { keys: [aMemberKey()] } } };
  const missing = ['core.members.exchange'];
  const jwksOf = async (caller: Caller, id: string) =>
    (await caller.get<OrganizationDto>(at(id))).body.settings.member_jwks;

  it('is not an ancestor’s to set, nor the founder’s: 403, and nothing is founded or changed', async () => {
    const body = aBody(given);
    const refused = expectProblem(await parent.admin.post(ORGANIZATIONS, body), 403, 'privilege_escalation');
    expect(refused['missing']).toEqual(missing);
    const { child, admin } = await withKey(parent.admin);
    const grandchild = await found(admin);
    for (const [caller, id] of [
      [parent.admin, child.id],
      [parent.admin, grandchild.id.toUpperCase()],
      [admin, grandchild.id],
    ] as const) {
      for (const settings of [given.settings, { member_jwks: null }, { member_jwks: { keys: [] } }]) {
        const problem = expectProblem(await caller.patch(at(id), { settings }), 403, 'privilege_escalation');
        expect(problem['missing']).toEqual(missing);
      }
      expect(await jwksOf(caller, id)).toEqual({ keys: [] });
    }
    expectStatus(await admin.patch(at(child.id), given), 200);
    expect(await jwksOf(parent.admin, child.id)).toEqual(given.settings.member_jwks);
    // A stranger's id is nobody's, whatever the body says.
    const other = await bench.organization();
    expectProblem(await other.admin.patch(at(child.id), given), 404, 'not_found');
  });

  it('is set by who may exchange tokens: 403 for a key that may all but that', async () => {
    const lacking = PERMISSIONS.filter((permission) => permission !== 'core.members.exchange');
    const caller = await bench.caller(parent, lacking);
    for (const settings of [given.settings, { member_jwks: null }]) {
      const problem = expectProblem(
        await caller.patch(at(parent.id), { settings }),
        403,
        'privilege_escalation',
      );
      expect(problem['missing']).toEqual(missing);
    }
    const able = await bench.caller(parent, ['identity.organizations.update', 'core.members.exchange']);
    expectStatus(await able.patch(at(parent.id), given), 200);
  });
});

describe('settings.rate_limits', () => {
  const limits = (key_per_second: number, organization_per_second: number) => ({
    settings: { rate_limits: { key_per_second, organization_per_second } },
  });
  const limitsOf = async (caller: Caller, id: string) =>
    (await caller.get<OrganizationDto>(at(id))).body.settings.rate_limits;
  /** What modules hear of a key: the limits that hold, and whose they use up too. */
  const resolved = async (key: string) => {
    const source = bench.app.app.get(DatabaseAuthorizationSource, { strict: false });
    const { organization, epoch } = await source.resolve(hashApiKey(key), 10_000);
    const { settings, ancestors = [], tenant_id: tenant } = organization;
    return { limits: settings['rate_limits'], ancestors, tenant, epoch };
  };

  /** A parent with limits of its own, given by the root. */
  const limitedParent = async (key_per_second: number, organization_per_second: number) => {
    const rateLimits = { key_per_second, organization_per_second };
    const slug = `limited-${randomUUID()}`;
    const wish = { name: slug, slug, rateLimits, issue: ['administrator'] as const };
    const { organization, keys } = await bench.operator.createOrganization({ ...wish, reissue: false });
    const admin = new Caller(bench.app.url, keys.administrator?.key ?? '');
    await eventually(async () => expect((await admin.get(at(organization.id))).status).toBe(200));
    const lower = async (key: number, all: number): Promise<void> => {
      const next = { key_per_second: key, organization_per_second: all };
      await bench.operator.createOrganization({ ...wish, rateLimits: next, issue: [], reissue: true });
    };
    return { id: organization.id, admin, lower };
  };

  it('400 above the ancestor’s own, by default or said, when founded and when changed, at any depth', async () => {
    const body = aBody(limits(100_000, 100_000));
    const refused = expectProblem(await parent.admin.post(ORGANIZATIONS, body), 400, 'validation_failed');
    expect(refused.errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/settings/rate_limits/key_per_second', 'out_of_range'],
      ['/settings/rate_limits/organization_per_second', 'out_of_range'],
    ]);
    const { child, admin } = await withKey(parent.admin, limits(10, 20));
    expectProblem(await parent.admin.patch(at(child.id), limits(1_001, 20)), 400, 'validation_failed');
    expectProblem(await admin.post(ORGANIZATIONS, aBody(limits(11, 20))), 400, 'validation_failed');
    const grandchild = await found(admin, limits(10, 20));
    // Neither the child nor who stands above it gives the grandchild more than the child has.
    for (const caller of [admin, parent.admin])
      expectProblem(await caller.patch(at(grandchild.id), limits(10, 21)), 400, 'validation_failed');
    expectStatus(await parent.admin.patch(at(child.id), limits(1_000, 2_000)), 200);
    expectStatus(await admin.patch(at(grandchild.id), limits(1_000, 2_000)), 200);
  });

  it('lowered above, they bind all below at once, who said nothing too, and are raised again alike', async () => {
    const above = await limitedParent(1_000, 2_000);
    const { child, admin } = await withKey(above.admin);
    const { child: grandchild } = await withKey(admin, limits(500, 600));
    const key = grandchild.api_key?.key ?? '';
    const before = await resolved(key);
    await above.lower(25, 50);
    const after = await resolved(key);
    expect(after.epoch).toBeGreaterThan(before.epoch);
    // Whoever stands below the root in whichever depth belongs to the one directly below it.
    expect([after.tenant, (await resolved(child.api_key?.key ?? '')).tenant]).toEqual([above.id, above.id]);
    expect(after).toMatchObject({ limits: { key_per_second: 25, organization_per_second: 50 } });
    expect(after.ancestors).toEqual([
      { id: above.id, organization_per_second: 50 },
      { id: child.id, organization_per_second: 50 },
    ]);
    expect(await limitsOf(admin, child.id)).toEqual({ key_per_second: 25, organization_per_second: 50 });
    await above.lower(1_000, 2_000);
    expect((await resolved(key)).limits).toEqual({ key_per_second: 500, organization_per_second: 600 });
    // Another setting of one above is nobody's below.
    const { epoch } = await resolved(key);
    expectStatus(await above.admin.patch(at(above.id), { settings: { session: { idle_minutes: 9 } } }), 200);
    expect((await resolved(key)).epoch).toBe(epoch);
  });

  it('of a child raised and a parent lowered at once, what holds is never above the parent’s', async () => {
    const above = await limitedParent(1_000, 2_000);
    const { child, admin } = await withKey(above.admin, limits(1, 1));
    const { child: grandchild } = await withKey(admin);
    for (let round = 0; round < 5; round += 1) {
      expectStatus(await above.admin.patch(at(child.id), limits(900, 900)), 200);
      await Promise.all([
        above.admin.patch(at(child.id), limits(10, 10)),
        admin.patch(at(grandchild.id), limits(800, 800)),
      ]);
      expect((await resolved(grandchild.api_key?.key ?? '')).limits).toEqual({
        key_per_second: 10,
        organization_per_second: 10,
      });
    }
  });

  it('the root binds nobody by the default', async () => {
    const { id, admin } = await limitedParent(100_000, 100_000);
    expect(await limitsOf(admin, id)).toEqual({ key_per_second: 100_000, organization_per_second: 100_000 });
    const { child } = await withKey(admin);
    expect((await resolved(child.api_key?.key ?? '')).ancestors).toEqual([
      { id, organization_per_second: 100_000 },
    ]);
  });

  it('409 limit_reached beyond a thousand children, founded or restored, also of ten at once', async () => {
    const last = await found(parent.admin);
    expectStatus(await parent.admin.delete(at(last.id)), 204);
    await bench.within(parent.id, (tx) =>
      tx.query(
        `INSERT INTO organizations
           (organization_id, id, parent_id, path, name, slug, locale, timezone, created_at, updated_at)
         SELECT c.id, c.id, $1, p.path || c.id, 'Child', 'child-' || c.id, 'en', 'UTC', now(), now()
           FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 998)) AS c
           JOIN organizations p ON p.organization_id = $1`,
        [parent.id],
      ),
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => parent.admin.post<OrganizationDto>(ORGANIZATIONS, aBody())),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, ...Array<number>(8).fill(409)]);
    const refused = answers.find(({ status }) => status === 409);
    if (refused) expect(expectProblem(refused, 409, 'limit_reached')['limit']).toBe(1_000);
    expectProblem(await parent.admin.post(`${at(last.id)}/restore`), 409, 'limit_reached');
    const founded = answers.find(({ status }) => status === 201)?.body.id ?? '';
    expectStatus(await parent.admin.delete(at(founded)), 204);
    expectStatus(await parent.admin.post(`${at(last.id)}/restore`), 200);
  });
});

describe('settings.retention', () => {
  const NOTHING = {
    events_days: null,
    dead_letters_days: null,
    sends_days: null,
    webhook_deliveries_days: null,
  };
  const set = async (retention: object | null): Promise<object> => {
    const answer = await parent.admin.patch<OrganizationDto>(at(parent.id), { settings: { retention } });
    expectStatus(answer, 200);
    return answer.body.settings.retention;
  };
  const told = async (of = parent.id): Promise<object | undefined> => {
    const peer = await peerModule('core', 'identity', bench.app.internalUrl);
    for (let after: string | null = ''; after !== null;) {
      const path: string = `/internal/retention${after === '' ? '' : `?after=${after}`}`;
      const { status, body } = await peer.get<RetentionPage>(path);
      expect(status).toBe(200);
      const own = body.organizations.find(({ organization_id: id }) => id === of);
      if (own) return own.retention;
      after = body.next;
    }
    return undefined;
  };

  it('is the organization’s own to say, merged, taken back, and told to the modules that remove', async () => {
    expect(await told()).toBeUndefined();
    expect(await set({ events_days: 365 })).toEqual({ ...NOTHING, events_days: 365 });
    expect(await set({ sends_days: 30 })).toEqual({ ...NOTHING, events_days: 365, sends_days: 30 });
    expect(await told()).toEqual({ events_days: 365, sends_days: 30 });
    expect(await set({ events_days: null })).toEqual({ ...NOTHING, sends_days: 30 });
    expect(await told()).toEqual({ sends_days: 30 });
    expect(await set(null)).toEqual(NOTHING);
    expect(await told()).toBeUndefined();
  });

  it.each([
    ['events_days', 6, 'out_of_range'],
    ['events_days', 3_651, 'out_of_range'],
    ['dead_letters_days', 0, 'out_of_range'],
    ['sends_days', 6, 'out_of_range'],
    ['webhook_deliveries_days', 15, 'out_of_range'],
    ['events_days', '30', 'wrong_type'],
    ['ledger_days', 30, 'unknown_field'],
  ])('400 for %s of %p: %s', async (field, value, code) => {
    const body = { settings: { retention: { [field]: value } } };
    const problem = expectProblem(await parent.admin.patch(at(parent.id), body), 400, 'validation_failed');
    expect(problem['errors']).toMatchObject([{ pointer: `/settings/retention/${field}`, code }]);
  });

  it('holds for the organization alone, and is not told of a deleted one', async () => {
    const { child, admin } = await withKey(parent.admin);
    await set({ events_days: 30 });
    expect((await admin.get<OrganizationDto>(at(child.id))).body.settings.retention).toEqual(NOTHING);
    expectStatus(await admin.patch(at(child.id), { settings: { retention: { events_days: 40 } } }), 200);
    expect(await told(child.id)).toEqual({ events_days: 40 });
    for (const status of ['suspended', 'active']) {
      expectStatus(await parent.admin.patch(at(child.id), { status }), 200);
      expect(await told(child.id)).toEqual(status === 'active' ? { events_days: 40 } : undefined);
    }
    expectStatus(await parent.admin.delete(at(child.id)), 204);
    expect(await told(child.id)).toBeUndefined();
    expect(await told()).toEqual({ events_days: 30 });
  });

  it('is not an ancestor’s to set: 403, and nothing is changed; whoever founds one says it', async () => {
    const { child, admin } = await withKey(parent.admin, { settings: { retention: { events_days: 90 } } });
    const kept = { ...NOTHING, events_days: 90 };
    for (const retention of [{ events_days: 30 }, { events_days: null }, {}, null]) {
      const answer = await parent.admin.patch(at(child.id.toUpperCase()), { settings: { retention } });
      expectProblem(answer, 403, 'privilege_escalation');
    }
    expect((await admin.get<OrganizationDto>(at(child.id))).body.settings.retention).toEqual(kept);
    const other = await bench.organization();
    const body = { settings: { retention: { events_days: 30 } } };
    expectProblem(await other.admin.patch(at(child.id), body), 404, 'not_found');
  });

  it('new or shorter it takes the permission to purge: 403 without; longer or none does not', async () => {
    await set({ events_days: 100 });
    const caller = await bench.caller(parent, ['identity.organizations.update']);
    const patch = (retention: object | null) => caller.patch(at(parent.id), { settings: { retention } });
    for (const refused of [{ events_days: 99 }, { events_days: 200, sends_days: 3_650 }])
      expect(expectProblem(await patch(refused), 403, 'permission_denied')['permission']).toBe(
        'identity.organizations.purge',
      );
    expect(await told()).toEqual({ events_days: 100 });
    for (const allowed of [{ events_days: 100 }, { events_days: 101 }, { events_days: null }, null])
      expectStatus(await patch(allowed), 200);
    expect(await told()).toBeUndefined();
    const entries = await bench.within(parent.id, (tx) =>
      tx.query<{ changed_fields: string[] }>(
        `SELECT changed_fields FROM audit_entries WHERE resource_id = $1 AND action = 'identity.organizations.update'`,
        [parent.id],
      ),
    );
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries) expect(entry.changed_fields).toEqual(['settings', 'settings.retention']);
  });

  it('is nobody else’s to read', async () => {
    const peer = await peerModule('loyalty', 'identity', bench.app.internalUrl);
    expectProblem(await peer.get('/internal/retention'), 403, 'permission_denied');
  });
});

describe('settings.mfa_policy', () => {
  it('403 privilege_escalation for asking for no second factor any more, save by who holds all of an owner’s', async () => {
    const low = await bench.caller(parent, ['identity.organizations.update']);
    const policy = (mfa_policy: string | null) => ({ settings: { mfa_policy } });
    expectStatus(await low.patch(at(parent.id), policy('optional')), 200);
    expectStatus(await low.patch(at(parent.id), policy('required')), 200);
    for (const weaker of ['optional', null])
      expectProblem(await low.patch(at(parent.id), policy(weaker)), 403, 'privilege_escalation');
    expectStatus(await low.patch(at(parent.id), policy('required')), 200);
    expectStatus(await low.patch(at(parent.id), { settings: { session: { idle_minutes: 9 } } }), 200);
    expectProblem(await low.patch(at(parent.id), policy('owners')), 403, 'privilege_escalation');
    expectStatus(await parent.admin.patch(at(parent.id), policy('owners')), 200);
    expectProblem(await low.patch(at(parent.id), policy('optional')), 403, 'privilege_escalation');
    expectStatus(await parent.admin.patch(at(parent.id), policy('optional')), 200);
  });
});

describe('settings.mfa_policy of an organization that is founded in production', () => {
  let production: IdentityBench;
  beforeAll(async () => {
    production = await IdentityBench.start({
      PLATFORM_MODE: 'production',
      PUBLIC_URL: 'https://platform.example',
      KAFKA_ALLOW_UNAUTHENTICATED: 'true',
      KAFKA_ALLOW_WEAK_REPLICATION: 'true',
    });
  });
  afterAll(() => production.end());

  it('403 privilege_escalation for asking fewer than there, save by who holds all of an owner’s', async () => {
    const founder = await production.organization();
    const low = await production.caller(founder, ['identity.organizations.create']);
    const founds = (caller: Caller, mfa_policy: string | null) =>
      caller.post(ORGANIZATIONS, aBody({ settings: { mfa_policy } }));
    expectProblem(await founds(low, 'optional'), 403, 'privilege_escalation');
    for (const policy of ['owners', 'required', null]) expectStatus(await founds(low, policy), 201);
    expectStatus(await founds(founder.admin, 'optional'), 201);
  });
});

describe('who is asked for a second factor where nothing is said', () => {
  const before = process.env['PLATFORM_MODE'];
  afterEach(() => {
    if (before === undefined) delete process.env['PLATFORM_MODE'];
    else process.env['PLATFORM_MODE'] = before;
  });

  it.each([
    ['production', 'owners'],
    ['local', 'optional'],
  ])('in %s: %s', (mode, policy) => {
    process.env['PLATFORM_MODE'] = mode;
    expect(defaultMfaPolicy()).toBe(policy);
  });
});
