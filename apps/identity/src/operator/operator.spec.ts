import { EXIT } from '@customer-platform/cli';
import { hashApiKey, isWellFormedApiKey } from '@customer-platform/authorization';
import { PERMISSIONS } from '@customer-platform/permissions';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import type { DatabaseAuthorizationSource } from '../authorization/database-authorization.source.js';
import { migrations } from '../migrations/index.js';
import { moduleSettings } from '../vocabulary/organizations/organization-settings.js';
import { anOperator, ROOT, type OperatorBench } from './operator.fixture.js';
import { type CreateOrganization, type EquippedOrganization } from './operator.js';

const A_WISH: CreateOrganization = { name: 'Acme', slug: 'acme', issue: [], reissue: false };

describe('the operator', () => {
  let database: TestDatabase;
  let bench: OperatorBench;
  let registry: DatabaseAuthorizationSource;

  beforeEach(async () => {
    database = await testDatabase('identity', migrations);
    bench = await anOperator(database);
    ({ registry } = bench);
  });
  afterEach(async () => {
    await bench.close();
    await database.drop();
  });

  const resolve = (key: string | undefined) => registry.resolve(hashApiKey(key ?? ''), 5_000);
  const count = async (table: string) =>
    (await database.query<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count;

  it('founds the root with its built-in roles and one owner key that may do everything', async () => {
    const { organization, keys } = await bench.operator.bootstrap(ROOT);
    const key = keys.administrator?.key ?? '';
    expect(isWellFormedApiKey(key)).toBe(true);
    const resolved = await resolve(key);
    expect(resolved.organization).toEqual({
      id: organization.id,
      status: 'active',
      settings: { ...moduleSettings({}), locale: 'en', timezone: 'UTC' },
    });
    expect(resolved.permissions).toEqual([...PERMISSIONS].sort());
    const roles = await database.query<{ key: string; kind: string }>(
      `SELECT key, kind FROM roles ORDER BY 1, 2`,
    );
    expect(roles.map(({ key: role, kind }) => `${role} ${kind}`)).toEqual([
      'admin human',
      'analyst human',
      'editor human',
      'ingest machine',
      'owner human',
      'owner machine',
      'sender machine',
    ]);
  });

  it('makes one root of ten bootstraps at once, whatever their slugs', async () => {
    const second = await anOperator(database);
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, number) =>
        (number % 2 ? bench : second).operator.bootstrap({ ...ROOT, slug: `root-${String(number)}` }),
      ),
    );
    await second.close();
    const refusals = attempts.filter((attempt) => attempt.status === 'rejected');
    expect(refusals).toHaveLength(9);
    for (const { reason } of refusals) expect(reason).toMatchObject({ exitCode: EXIT.exists });
    expect([await count('organizations'), await count('api_keys'), await count('roles')]).toEqual([
      '1',
      '1',
      '7',
    ]);
  });

  it('changes nothing where a root exists, and recovers it with a further owner key', async () => {
    const founded = await bench.operator.bootstrap(ROOT);
    const before = await everything(database);
    await expect(bench.operator.bootstrap({ ...ROOT, slug: 'other' })).rejects.toThrow(
      'bootstrapped already',
    );
    expect(await everything(database)).toEqual(before);
    const recovered = await bench.operator.recover('platform');
    expect(recovered.organization.id).toBe(founded.organization.id);
    for (const { keys } of [founded, recovered]) {
      expect((await resolve(keys.administrator?.key)).permissions).toHaveLength(PERMISSIONS.length);
    }
    await expect(bench.operator.recover('nobody')).rejects.toThrow(
      'No active organization has the slug nobody',
    );
  });

  it('founds organizations below the root or below another, five levels deep at most', async () => {
    await expect(bench.operator.createOrganization(A_WISH)).rejects.toThrow(
      'run "platform organizations bootstrap" first',
    );
    const root = await bench.operator.bootstrap({ ...ROOT, locale: 'es-CL' });
    let parentSlug: string = ROOT.slug;
    const path = [root.organization.id];
    for (const slug of ['level-2', 'level-3', 'level-4', 'level-5']) {
      const { organization } = await bench.operator.createOrganization({ ...A_WISH, slug, parentSlug });
      path.push(organization.id);
      parentSlug = slug;
    }
    const [deepest] = await database.query(
      `SELECT path::text[], locale, timezone FROM organizations WHERE slug = 'level-5'`,
    );
    expect(deepest).toEqual({ path, locale: 'es-CL', timezone: 'UTC' });
    await expect(
      bench.operator.createOrganization({ ...A_WISH, slug: 'level-6', parentSlug }),
    ).rejects.toMatchObject({ code: 'limit_reached' });
    await expect(bench.operator.createOrganization({ ...A_WISH, slug: 'level-2' })).rejects.toMatchObject({
      code: 'duplicate_value',
    });
  });

  it('issues an ingestion key that may ingest and nothing else, and an administrator key', async () => {
    await bench.operator.bootstrap(ROOT);
    const rateLimits = { key_per_second: 100_000, organization_per_second: 100_000 };
    const { keys } = await bench.operator.createOrganization({
      ...A_WISH,
      rateLimits,
      issue: ['ingestion', 'administrator'],
    });
    const ingestion = await resolve(keys.ingestion?.key);
    expect(ingestion.permissions).toEqual(['core.contacts.write', 'core.events.write']);
    expect(ingestion.organization.settings).toMatchObject({ rate_limits: rateLimits });
    expect((await resolve(keys.administrator?.key)).permissions).toHaveLength(PERMISSIONS.length);
  });

  it('equips an organization anew: the same organization, new limits, the former keys dead', async () => {
    await bench.operator.bootstrap(ROOT);
    const wish = { ...A_WISH, issue: ['ingestion'], reissue: true } as const;
    const first = await bench.operator.createOrganization(wish);
    const rateLimits = { key_per_second: 5, organization_per_second: 6 };
    const second = await bench.operator.createOrganization({ ...wish, rateLimits });
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.organization).toEqual(first.organization);
    await expect(resolve(first.keys.ingestion?.key)).rejects.toMatchObject({ reason: 'unknown' });
    const resolved = await resolve(second.keys.ingestion?.key);
    expect(resolved.organization.settings).toMatchObject({ rate_limits: rateLimits });
  });

  it('equips one organization by two commands at once, and one of the keys works', async () => {
    await bench.operator.bootstrap(ROOT);
    const wish = { ...A_WISH, issue: ['ingestion'], reissue: true } as const;
    const made = await Promise.all([1, 2, 3].map(() => bench.operator.createOrganization(wish)));
    expect(new Set(made.map(({ organization }) => organization.id)).size).toBe(1);
    const works = await Promise.allSettled(made.map(({ keys }) => resolve(keys.ingestion?.key)));
    expect(works.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('ends a key by its id or by itself, once', async () => {
    const { keys } = await bench.operator.bootstrap(ROOT);
    const { id = '', key = '' } = keys.administrator ?? {};
    expect(await bench.operator.revokeKey(key)).toEqual({ id, revoked: true });
    await expect(resolve(key)).rejects.toMatchObject({ reason: 'unknown' });
    expect(await bench.operator.revokeKey(id)).toEqual({ id, revoked: false });
    await expect(bench.operator.revokeKey('0190aaaa-0000-7000-8000-000000000001')).rejects.toThrow(
      'no such key',
    );
    await expect(bench.operator.revokeKey('key')).rejects.toThrow('Give the id of a key');
  });

  it('is audited as system, publishes what it did, and leaves no key anywhere', async () => {
    const root = await bench.operator.bootstrap(ROOT);
    const child = await bench.operator.createOrganization({
      ...A_WISH,
      issue: ['ingestion', 'administrator'],
    });
    await bench.operator.revokeKey(child.keys.ingestion?.id ?? '');
    const audit = await database.query(
      `SELECT organization_id, actor_type || ' ' || actor_id AS actor, action FROM audit_entries ORDER BY id`,
    );
    const [rootId, childId] = [root.organization.id, child.organization.id];
    expect(audit).toEqual([
      { organization_id: rootId, actor: 'system bootstrap', action: 'identity.organizations.create' },
      { organization_id: rootId, actor: 'system bootstrap', action: 'identity.api_keys.create' },
      {
        organization_id: rootId,
        actor: 'system create-organization',
        action: 'identity.organizations.create',
      },
      { organization_id: childId, actor: 'system create-organization', action: 'identity.api_keys.create' },
      { organization_id: childId, actor: 'system create-organization', action: 'identity.api_keys.create' },
      { organization_id: childId, actor: 'system revoke-key', action: 'identity.api_keys.revoke' },
    ]);
    const events = await database.query<{ type: string }>(
      `SELECT (message ->> 1)::json ->> 'type' AS type FROM outbox, json_array_elements(messages) AS message
        WHERE topic = 'identity.domain-events' ORDER BY outbox.id`,
    );
    expect(events.map(({ type }) => type)).toEqual([
      'identity.organization.created.v1',
      'identity.api_key.created.v1',
      'identity.organization.created.v1',
      'identity.api_key.created.v1',
      'identity.api_key.created.v1',
      'identity.api_key.revoked.v1',
    ]);
    const dump = JSON.stringify(await everything(database));
    for (const key of secretsOf(root, child)) {
      expect(key).toHaveLength(47);
      // Beyond the prefix, nothing of a key is anywhere.
      expect(dump).not.toContain(key.slice(13, 24));
    }
  });
});

function secretsOf(...equipped: EquippedOrganization[]): string[] {
  return equipped.flatMap(({ keys }) => Object.values(keys).map(({ key }) => key));
}

/** Every row of every table. */
async function everything(database: TestDatabase): Promise<unknown> {
  const tables = await database.query<{ table_name: string }>(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  const rows: Record<string, unknown> = {};
  for (const { table_name: table } of tables) {
    rows[table] = await database.query(`SELECT to_jsonb(t)::text AS row FROM ${table} t ORDER BY 1`);
  }
  return rows;
}
