import { Client } from 'pg';
import { newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { RegistryBench, type Tenant } from './registry.fixture.js';
import { moduleSettings } from '../vocabulary/organizations/organization-settings.js';

/** Who waits for another transaction's lock. */
const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

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
          settings: { ...moduleSettings({}), locale: 'en', timezone: 'UTC' },
          // Below none, it is its own tenant.
          tenant_id: tenant.organizationId,
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

    it('rise where a membership is committed while its user is being suspended', async () => {
      const [home, joined] = [await bench.tenant(), await bench.tenant()];
      const userId = newId();
      await bench.change(
        home.organizationId,
        `INSERT INTO users (organization_id, id, email, name, status, created_at, updated_at)
         VALUES ($1, $2, 'joining@example.com', 'Somebody', 'active', now(), now())`,
        [userId],
      );
      const before = await epochOf(joined);
      const joining = new Client({ connectionString: bench.database.adminUrl });
      await joining.connect();
      try {
        await joining.query('BEGIN');
        await joining.query(
          `INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at)
           VALUES ($1, gen_random_uuid(), $2, now(), now())`,
          [joined.organizationId, userId],
        );
        const suspended = bench.change(
          home.organizationId,
          `UPDATE users SET status = 'suspended' WHERE organization_id = $1 AND id = $2`,
          [userId],
        );
        await eventually(async () => expect(await bench.database.query(WAITING)).toHaveLength(1));
        await joining.query('COMMIT');
        await suspended;
      } finally {
        await joining.end();
      }
      // Once with the membership, once more with the suspension.
      expect(await epochOf(joined)).toBe(before + 2);
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

    /**
     * The cursor with nothing left behind it. Changes are told again while an older transaction is open, in whatever
     * database of the server, but not for ever.
     */
    const settled = async (from?: string): Promise<string> => {
      let cursor = from ?? (await changes()).cursor;
      await eventually(async () => {
        const page = await told(cursor);
        ({ cursor } = page);
        expect(page.ids).toEqual([]);
      });
      return cursor;
    };

    it('tells what changed since the cursor, and nothing the first time', async () => {
      const tenant = await bench.tenant();
      const first = await changes();
      expect(first).toMatchObject({ reset: false, changes: [] });
      await bench.change(tenant.organizationId, revoke);
      const second = await told(first.cursor);
      expect(second.ids).toContain(tenant.organizationId);
      await settled(second.cursor);
    });

    it('skips no change that commits after a later one: of two crossing transactions both are told', async () => {
      const [slow, quick] = [await bench.tenant(), await bench.tenant()];
      let cursor = await settled();
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
      await settled(cursor);
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
