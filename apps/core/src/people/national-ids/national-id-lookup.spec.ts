import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { at, CONTACTS, ContactWorld } from '../contacts/contact.fixture.js';
import type { FoundContactDto } from './national-id.dto.js';

const READ = 'core.contacts.read_national_id';
const LOOKUP = `${CONTACTS}/lookup`;
const RUT = '12345678-5';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const auditOf = (organizationId: string): Promise<Record<string, unknown>[]> =>
  world.query(
    `SELECT resource_type, resource_id, outcome FROM audit_entries
      WHERE organization_id = $1 AND (action = 'core.contacts.lookup' OR outcome = 'denied') ORDER BY occurred_at, id`,
    [organizationId],
  );

const lookUp = (caller: Caller, value: string, headers: Record<string, string> = {}, type = 'CL_RUT') =>
  caller.post<FoundContactDto>(LOOKUP, { national_id: { type, value } }, headers);

describe('POST /v1/core/contacts/lookup', () => {
  it('finds whose it is, however it is written, and is on record without it', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { national_id: { type: 'CL_RUT', value: RUT } });
    await world.created(world.anOrganization().caller, { national_id: { type: 'CL_RUT', value: '1-9' } });
    const alone = world.core.app.as(id, [READ]);
    for (const written of ['12.345.678-5', '012345678–5', ' 123456785 ']) {
      const answer = await lookUp(alone, written);
      expectStatus(answer, 200);
      expect(answer.body).toEqual({ contact_id: contact.id });
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    for (const [value, type] of [
      ['11111111-1', 'CL_RUT'],
      ['1-9', 'CL_RUT'],
      [RUT, 'PASSPORT'],
    ] as const) {
      const answer = await lookUp(alone, value, {}, type);
      expectStatus(answer, 200);
      expect(answer.body).toEqual({ contact_id: null });
    }
    const found = { resource_type: 'contacts', resource_id: contact.id, outcome: 'success' };
    const nobody = { resource_type: 'organizations', resource_id: id, outcome: 'success' };
    expect(await auditOf(id)).toEqual([found, found, found, nobody, nobody, nobody]);
    const rows = await world.query('SELECT * FROM audit_entries WHERE organization_id = $1', [id]);
    const kept = rows.map((row) => ({ ...row, hash: null, prev_hash: null }));
    expect(JSON.stringify(kept)).not.toMatch(/12\.?345\.?678-?5/);
  });

  it('follows the national id: to the survivor of a merge, away from who was deleted or gave it up', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [
      await world.created(caller),
      await world.created(caller, { national_id: { type: 'CL_RUT', value: RUT } }),
    ];
    const merge = { survivor_id: survivor.id, merged_id: merged.id };
    expectStatus(await caller.post(`${CONTACTS}/merge`, merge), 200);
    expect((await lookUp(caller, RUT)).body).toEqual({ contact_id: survivor.id });
    expectStatus(await caller.patch(at(survivor), { national_id: null }), 200);
    expect((await lookUp(caller, RUT)).body).toEqual({ contact_id: null });
    const other = await world.created(caller, { national_id: { type: 'CL_RUT', value: RUT } });
    expectStatus(await caller.delete(at(other)), 204);
    expect((await lookUp(caller, RUT)).body).toEqual({ contact_id: null });
  });

  it('keeps nothing for an `Idempotency-Key`', async () => {
    const { id, caller } = world.anOrganization();
    const key = { 'Idempotency-Key': newId() };
    expect((await lookUp(caller, RUT, key)).body).toEqual({ contact_id: null });
    const contact = await world.created(caller, { national_id: { type: 'CL_RUT', value: RUT } });
    const again = await lookUp(caller, RUT, key);
    expect(again.body).toEqual({ contact_id: contact.id });
    expect(again.headers.get('idempotent-replay')).toBeNull();
    expect(
      await world.query(
        `SELECT 1 FROM idempotency_keys WHERE organization_id = $1 AND route LIKE '%lookup'`,
        [id],
      ),
    ).toEqual([]);
  });

  it('refuses what is none, and looks for nobody', async () => {
    const { id, caller } = world.anOrganization();
    expectProblem(await lookUp(caller, '12345678-4'), 400, 'invalid_national_id');
    expectProblem(await lookUp(caller, '0-0'), 400, 'placeholder_identifier');
    expectProblem(await lookUp(caller, RUT, {}, 'RUT'), 400, 'validation_failed');
    expectProblem(await caller.post(LOOKUP, {}), 400, 'validation_failed');
    expectProblem(await caller.post(`${LOOKUP}?value=1-9`, {}), 400, 'unknown_parameter');
    expect(await auditOf(id)).toEqual([]);
  });

  it('429 beyond 60 in a minute, and finds nobody then', async () => {
    const { id, caller } = world.anOrganization();
    await world.created(caller, { national_id: { type: 'CL_RUT', value: RUT } });
    const now = new Date(Date.now() - (Date.now() % 60_000));
    await world.query(
      `INSERT INTO tenant_tallies (organization_id, name, began_at, count)
       SELECT $1, 'national_id_lookups', began, 60 FROM unnest(ARRAY[$2::timestamptz, $2::timestamptz + interval '1 min']) AS began`,
      [id, now],
    );
    const refused = await lookUp(caller, RUT);
    expectProblem(refused, 429, 'rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await auditOf(id)).toEqual([]);
  });

  it('429 beyond 180 in a minute of a tenant, in however many organizations, and none of it to its neighbour', async () => {
    const tenant = newId();
    const { app } = world.core;
    const key = { organizationId: newId(), permissions: PERMISSIONS, tenant };
    const child = app.with(app.registry.key(key));
    const now = new Date(Date.now() - (Date.now() % 60_000));
    await world.query(
      `INSERT INTO tenant_tallies (organization_id, name, began_at, count)
       SELECT $1, 'national_id_lookups_of_tenant', began, 180
         FROM unnest(ARRAY[$2::timestamptz, $2::timestamptz + interval '1 min']) AS began`,
      [tenant, now],
    );
    expectProblem(await lookUp(child, RUT), 429, 'rate_limited');
    expectStatus(await lookUp(world.anOrganization().caller, RUT), 200);
  });

  it('403 without the permission, on record too', async () => {
    const { id } = world.anOrganization();
    const unable = world.core.app.as(
      id,
      PERMISSIONS.filter((permission) => permission !== READ),
    );
    const refused = expectProblem(await lookUp(unable, RUT), 403, 'permission_denied');
    expect(refused['permission']).toBe(READ);
    expect(await auditOf(id)).toEqual([
      { resource_type: 'organizations', resource_id: id, outcome: 'denied' },
    ]);
  });
});
