import { Client } from 'pg';
import { hashApiKey } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { RegistryBench, type Tenant } from './registry.fixture.js';
import { effectiveSettings } from '../organizations/organization-settings.js';

describe('the authorization registry', () => {
  let bench: RegistryBench;
  beforeAll(async () => {
    bench = await RegistryBench.start();
  });
  afterAll(() => bench.end());

  const resolve = (tenant: Tenant) => bench.source.resolve(tenant.hash, 5_000);
  const changes = (cursor?: string) => bench.source.changes(cursor, 5_000);
  const revoke = `UPDATE api_keys SET revoked_at = now() WHERE organization_id = $1`;

  describe('resolving a key', () => {
    it('tells principal, organization, permissions and epoch as of one instant', async () => {
      const tenant = await bench.tenant(['core.events.write', 'core.contacts.read']);
      const [epoch] = await bench.database.query<{ epoch: string }>(
        `SELECT epoch FROM organization_epochs WHERE organization_id = $1`,
        [tenant.organizationId],
      );
      expect(await resolve(tenant)).toEqual({
        principal: { type: 'api_key', id: tenant.key.id },
        actor: { type: 'api_key', id: tenant.key.id },
        organization: {
          id: tenant.organizationId,
          status: 'active',
          settings: { ...effectiveSettings({}), locale: 'en', timezone: 'UTC' },
        },
        permissions: ['core.contacts.read', 'core.events.write'],
        restriction: null,
        epoch: Number(epoch?.epoch),
        expires_in_ms: null,
      });
    });

    it('tells how long the key lives', async () => {
      const tenant = await bench.tenant([], new Date(Date.now() + 60_000));
      const { expires_in_ms: left } = await resolve(tenant);
      expect(left).toBeGreaterThan(30_000);
      expect(left).toBeLessThanOrEqual(60_000);
    });

    it.each([
      ['a revoked key', revoke, 'unknown'],
      ['an expired key', `UPDATE api_keys SET expires_at = now() WHERE organization_id = $1`, 'expired'],
      [
        'a key of a deleted organization',
        `UPDATE organizations SET deleted_at = now() WHERE organization_id = $1`,
        'unknown',
      ],
    ])('refuses %s', async (_, sql, reason) => {
      const tenant = await bench.tenant();
      await bench.change(tenant.organizationId, sql);
      await expect(resolve(tenant)).rejects.toMatchObject({ name: 'UnknownCredential', reason });
    });

    it('refuses a hash nobody has', async () => {
      await expect(bench.source.resolve('ab'.repeat(32), 5_000)).rejects.toMatchObject({ reason: 'unknown' });
    });

    it('tells the same of a key by its id, within its organization', async () => {
      const tenant = await bench.tenant(['core.members.exchange']);
      const other = await bench.tenant();
      const byId = (organization: Tenant, key: Tenant) =>
        bench.source.resolveTenant(
          { organization_id: organization.organizationId, api_key_id: key.key.id },
          5_000,
        );
      expect(await byId(tenant, tenant)).toEqual(await resolve(tenant));
      await expect(byId(other, tenant)).rejects.toMatchObject({ reason: 'unknown' });
      await bench.change(tenant.organizationId, revoke);
      await expect(byId(tenant, tenant)).rejects.toMatchObject({ reason: 'unknown' });
    });

    it('tells the settings of an organization by itself, and no permission', async () => {
      const tenant = await bench.tenant(['core.members.exchange']);
      const byItself = () => bench.source.resolveTenant({ organization_id: tenant.organizationId }, 5_000);
      const { epoch, organization } = await resolve(tenant);
      const principal = { type: 'organization', id: tenant.organizationId };
      expect(await byItself()).toEqual({
        ...{ principal, actor: principal, organization, epoch },
        ...{ permissions: [], restriction: null, expires_in_ms: null },
      });
      await bench.change(
        tenant.organizationId,
        `UPDATE organizations SET settings = '{"member_jwks": {"keys": []}}' WHERE organization_id = $1`,
      );
      expect((await byItself()).epoch).toBeGreaterThan(epoch);
      await bench.change(
        tenant.organizationId,
        `UPDATE organizations SET deleted_at = now() WHERE organization_id = $1`,
      );
      await expect(byItself()).rejects.toMatchObject({ reason: 'unknown' });
    });

    it('says that the organization is suspended', async () => {
      const tenant = await bench.tenant();
      await bench.change(
        tenant.organizationId,
        `UPDATE organizations SET status = 'suspended', suspended_at = now() WHERE organization_id = $1`,
      );
      expect(await resolve(tenant)).toMatchObject({
        restriction: 'organization_suspended',
        organization: { status: 'suspended' },
      });
    });

    it('grants nothing by a deleted role, and not what was taken from a role', async () => {
      const tenant = await bench.tenant(['core.events.write', 'core.contacts.read']);
      const { organizationId } = tenant;
      await bench.change(
        organizationId,
        `UPDATE role_permissions SET removed_at = now() WHERE organization_id = $1 AND permission = 'core.events.write'`,
      );
      expect((await resolve(tenant)).permissions).toEqual(['core.contacts.read']);
      await bench.change(
        organizationId,
        `UPDATE roles SET deleted_at = now() WHERE organization_id = $1 AND key IS NULL`,
      );
      expect((await resolve(tenant)).permissions).toEqual([]);
    });
  });

  describe('epochs', () => {
    const UNCHANGED = `UPDATE api_keys SET last_used_at = now(), name = 'Other' WHERE organization_id = $1`;
    it.each([
      ['a key revoked', revoke],
      ['a key’s end moved', `UPDATE api_keys SET expires_at = now() WHERE organization_id = $1`],
      ['a permission taken', `UPDATE role_permissions SET removed_at = now() WHERE organization_id = $1`],
      [
        'a permission given',
        `INSERT INTO role_permissions (organization_id, role_id, permission, granted_at)
         SELECT $1, id, 'crm.notes.read', now() FROM roles WHERE organization_id = $1 AND key IS NULL`,
      ],
      ['a role deleted', `UPDATE roles SET deleted_at = now() WHERE organization_id = $1 AND key IS NULL`],
      ['a suspension', `UPDATE organizations SET status = 'suspended' WHERE organization_id = $1`],
      ['settings changed', `UPDATE organizations SET settings = '{"a":1}' WHERE organization_id = $1`],
      ['a deletion', `UPDATE organizations SET deleted_at = now() WHERE organization_id = $1`],
    ])('rise by one with %s, in its transaction', async (_, sql) => {
      const tenant = await bench.tenant();
      const before = await epochOf(tenant);
      const rollback = bench.within(tenant.organizationId, async (tx) => {
        await tx.query(sql, [tenant.organizationId]);
        throw new Error('rolled back');
      });
      await expect(rollback).rejects.toThrow('rolled back');
      expect(await epochOf(tenant)).toBe(before);
      await bench.change(tenant.organizationId, sql);
      expect(await epochOf(tenant)).toBe(before + 1);
    });

    it('do not rise with what changes no right', async () => {
      const tenant = await bench.tenant();
      const before = await epochOf(tenant);
      await bench.change(tenant.organizationId, UNCHANGED);
      expect(await epochOf(tenant)).toBe(before);
    });

    it('rise for every organization when the built-in roles change', async () => {
      const [one, two] = [await bench.tenant(), await bench.tenant()];
      const before = [await epochOf(one), await epochOf(two)];
      const { cursor } = await changes();
      await bench.connection.acrossOrganizations((tx) =>
        tx.query(`INSERT INTO built_in_permissions VALUES ('sender', 'machine', 'core.future.read')`),
      );
      expect([await epochOf(one), await epochOf(two)]).toEqual(before.map((epoch) => epoch + 1));
      const told = (await changes(cursor)).changes.map(({ organization_id: id }) => id);
      expect(told).toEqual(expect.arrayContaining([one.organizationId, two.organizationId]));
    });

    async function epochOf({ organizationId }: Tenant): Promise<number> {
      const [row] = await bench.database.query<{ epoch: string }>(
        `SELECT epoch FROM organization_epochs WHERE organization_id = $1`,
        [organizationId],
      );
      return Number(row?.epoch);
    }
  });

  describe('the change feed', () => {
    const told = async (cursor: string) => {
      const page = await changes(cursor);
      return { ...page, ids: page.changes.map(({ organization_id: id }) => id) };
    };

    /** Nothing is told twice for ever: once no older transaction is open, in whatever database of the server. */
    const expectRepeatsToEnd = async (from: string) => {
      let cursor = from;
      await eventually(async () => {
        const page = await told(cursor);
        ({ cursor } = page);
        expect(page.ids).toEqual([]);
      });
    };

    it('tells what changed since the cursor, and nothing the first time', async () => {
      const tenant = await bench.tenant();
      const first = await changes();
      expect(first).toMatchObject({ reset: false, changes: [] });
      await bench.change(tenant.organizationId, revoke);
      const second = await told(first.cursor);
      expect(second.ids).toContain(tenant.organizationId);
      await expectRepeatsToEnd(second.cursor);
    });

    it('skips no change that commits after a later one: of two crossing transactions both are told', async () => {
      const [slow, quick] = [await bench.tenant(), await bench.tenant()];
      let { cursor } = await changes();
      const connection = new Client({ connectionString: bench.database.adminUrl });
      await connection.connect();
      try {
        await connection.query('BEGIN');
        await connection.query(revoke, [slow.organizationId]);
        await bench.change(quick.organizationId, revoke);
        const during = await told(cursor);
        expect(during.ids).toContain(quick.organizationId);
        expect(during.ids).not.toContain(slow.organizationId);
        const again = await told(during.cursor);
        expect(again.ids).toContain(quick.organizationId);
        await connection.query('COMMIT');
        const after = await told(again.cursor);
        expect(after.ids).toContain(slow.organizationId);
        ({ cursor } = after);
      } finally {
        await connection.end();
      }
      await expectRepeatsToEnd(cursor);
    });

    it('tells that its database is another one', async () => {
      const { cursor } = await changes();
      const [incarnation = '', position = ''] = cursor.split('~');
      expect((await changes(`${incarnation}~${position}`)).reset).toBe(false);
      expect(await changes(`${incarnation}~${String(BigInt(position) + 1_000_000n)}`)).toMatchObject({
        reset: true,
        changes: [],
      });
      expect((await changes(`123.456~${position}`)).reset).toBe(true);
      expect((await changes('nonsense')).reset).toBe(true);
    });
  });

  describe('confirming what was accepted unconfirmed', () => {
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
      [
        'the key’s end',
        `UPDATE api_keys SET expires_at = now() + interval '0.5 s' WHERE organization_id = $1`,
      ],
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
      const verdicts = await Promise.all(
        [5_000, 15_000, 25_000].map((offset) => confirm(tenant, at(offset))),
      );
      expect(verdicts.flat()).toEqual([true, false, true]);
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

  it('notes the latest use of keys and never an earlier one or one to come', async () => {
    const tenant = await bench.tenant();
    const use = (last_used_at: string) =>
      bench.source.reportUsage([
        { organization_id: tenant.organizationId, key_id: tenant.key.id, last_used_at },
      ]);
    const lastUse = async () => {
      const [row] = await bench.database.query<{ last_used_at: Date | null }>(
        `SELECT last_used_at FROM api_keys WHERE organization_id = $1`,
        [tenant.organizationId],
      );
      return row?.last_used_at?.toISOString();
    };
    expect(await lastUse()).toBeUndefined();
    await use('2026-01-02T00:00:00.000Z');
    await use('2026-01-01T00:00:00.000Z');
    expect(await lastUse()).toBe('2026-01-02T00:00:00.000Z');
    await use('2999-01-01T00:00:00.000Z');
    expect(Date.parse((await lastUse()) ?? '')).toBeLessThanOrEqual(Date.now() + 5_000);
  });
});
