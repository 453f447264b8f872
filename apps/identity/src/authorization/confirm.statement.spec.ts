import { hashApiKey } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { RegistryBench, type Tenant } from './registry.fixture.js';

describe('confirming what was accepted unconfirmed', () => {
  let bench: RegistryBench;
  beforeAll(async () => {
    bench = await RegistryBench.start();
  });
  afterAll(() => bench.end());

  const at = (offset: number) => new Date(Date.now() + offset).toISOString();
  // Ends lie half a second ahead, so that before and after are not a matter of the test's pace.
  const revokeSoon = `UPDATE api_keys SET revoked_at = now() + interval '0.5 s' WHERE organization_id = $1`;
  const confirm = (tenant: Tenant, accepted_at: string, permission?: string) =>
    bench.source.confirm([{ key_hash: tenant.hash, accepted_at, ...(permission ? { permission } : {}) }]);

  it('is a matter of whether the key was valid then', async () => {
    const tenant = await bench.tenant();
    const before = at(0);
    expect(await confirm(tenant, before)).toEqual([true]);
    expect(await confirm(tenant, at(-60_000))).toEqual([false]);
    await bench.change(tenant.organizationId, revokeSoon);
    expect(await confirm(tenant, before)).toEqual([true]);
    expect(await confirm(tenant, at(1_000))).toEqual([false]);
  });

  it.each([
    ['the key’s end', `UPDATE api_keys SET expires_at = now() + interval '0.5 s' WHERE organization_id = $1`],
    [
      'the organization’s deletion',
      `UPDATE organizations SET deleted_at = now() + interval '0.5 s' WHERE organization_id = $1`,
    ],
    [
      'the organization’s suspension',
      `UPDATE organizations SET status = 'suspended', suspended_at = now() + interval '0.5 s' WHERE organization_id = $1`,
    ],
    [
      'the role’s deletion',
      `UPDATE roles SET deleted_at = now() + interval '0.5 s' WHERE organization_id = $1 AND key IS NULL`,
    ],
  ])('no longer holds after %s', async (_, sql) => {
    const tenant = await bench.tenant();
    const before = at(0);
    await bench.change(tenant.organizationId, sql);
    expect(await confirm(tenant, before)).toEqual([true]);
    expect(await confirm(tenant, at(1_000))).toEqual([false]);
  });

  it('remembers a suspension that is over', async () => {
    const tenant = await bench.tenant();
    const sql = `UPDATE organizations SET suspended_at = now() + interval '0.5 s' + interval '10 s', reactivated_at = now() + interval '0.5 s' + interval '20 s'
                  WHERE organization_id = $1`;
    await bench.change(tenant.organizationId, sql);
    const verdicts = await Promise.all([5_000, 15_000, 25_000].map((offset) => confirm(tenant, at(offset))));
    expect(verdicts.flat()).toEqual([true, false, true]);
  });

  const aged = async (): Promise<Tenant> => {
    const tenant = await bench.tenant();
    await bench.change(
      tenant.organizationId,
      `UPDATE api_keys SET created_at = now() - interval '1 hour' WHERE organization_id = $1`,
    );
    return tenant;
  };
  const verdicts = (tenant: Tenant, ...minutes: number[]) =>
    Promise.all(minutes.map(async (past) => (await confirm(tenant, at(-past * 60_000)))[0]));

  it.each([
    ['organizations', ''],
    ['roles', 'AND key IS NULL'],
  ])('remembers a deletion of %s that is over', async (table, which) => {
    const [tenant, other] = [await aged(), await aged()];
    const change = (to: string) =>
      bench.change(
        tenant.organizationId,
        `UPDATE ${table} SET deleted_at = ${to} WHERE organization_id = $1 ${which}`,
      );
    await change(`now() - interval '30 min'`);
    await change('NULL');
    // In a minute: what ended in this very millisecond may not be over for a clock that counts in those.
    expect(await verdicts(tenant, 40, 20, -1)).toEqual([true, false, true]);
    await change(`now() - interval '10 min'`);
    expect(await verdicts(tenant, 40, 20, 5)).toEqual([true, false, false]);
    expect(await verdicts(other, 40, 20, 0)).toEqual([true, true, true]);
  });

  it('is not denied for the deletion of another role', async () => {
    const tenant = await aged();
    const change = (sql: string) => bench.change(tenant.organizationId, sql);
    await change(
      `INSERT INTO roles (organization_id, id, name, kind, created_at, updated_at, deleted_at)
       VALUES ($1, gen_random_uuid(), 'Another', 'machine', now(), now(), now() - interval '30 min')`,
    );
    await change(`UPDATE roles SET deleted_at = NULL WHERE organization_id = $1 AND name = 'Another'`);
    expect(await verdicts(tenant, 20)).toEqual([true]);
  });

  it('remembers every suspension, not the last alone', async () => {
    const tenant = await aged();
    const change = (sql: string) =>
      bench.change(tenant.organizationId, `UPDATE organizations SET ${sql} WHERE organization_id = $1`);
    await change(`status = 'suspended', suspended_at = now() - interval '30 min'`);
    await change(`status = 'active', reactivated_at = now()`);
    expect(await verdicts(tenant, 40, 20, -1)).toEqual([true, false, true]);
    await change(`status = 'suspended', suspended_at = now() - interval '1 min'`);
    expect(await verdicts(tenant, 40, 20, 0)).toEqual([true, false, false]);
  });

  it('asks for the permission as it was then, of built-in roles as well', async () => {
    const tenant = await bench.tenant(['core.events.write']);
    const before = at(0);
    await bench.change(
      tenant.organizationId,
      `UPDATE role_permissions SET removed_at = now() + interval '0.5 s' WHERE organization_id = $1`,
    );
    expect(await confirm(tenant, before, 'core.events.write')).toEqual([true]);
    expect(await confirm(tenant, before, 'core.contacts.write')).toEqual([false]);
    expect(await confirm(tenant, at(1_000), 'core.events.write')).toEqual([false]);
    const slug = `built-in-${newId().slice(-8)}`;
    const { keys } = await bench.operator.createOrganization({
      name: 'Built in',
      slug,
      issue: ['ingestion'],
      reissue: false,
    });
    const ingestion = { ...tenant, hash: hashApiKey(keys.ingestion?.key ?? '') };
    expect(await confirm(ingestion, at(1_000), 'core.events.write')).toEqual([true]);
    expect(await confirm(ingestion, at(1_000), 'core.events.read')).toEqual([false]);
  });

  it('answers in the order asked, an unknown key with no', async () => {
    const [one, two] = [await bench.tenant(), await bench.tenant()];
    await bench.change(one.organizationId, revokeSoon);
    const accepted_at = at(1_000);
    const hashes = [two.hash, 'ab'.repeat(32), one.hash, two.hash];
    const verdicts = await bench.source.confirm(hashes.map((key_hash) => ({ key_hash, accepted_at })));
    expect(verdicts).toEqual([true, false, false, true]);
  });
});
