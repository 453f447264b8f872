import { expectStatus } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { NationalIdVault } from '../national-ids/national-id.vault.js';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import { merge, profileOf, read, tryUndo, undo } from './merge.fixture.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const RUT = { type: 'CL_RUT', value: '12345678-5' };
const PHONE = '+56912345678';

/** All that is kept of the merges of an organization, as one text. */
const keptOf = async (organizationId: string): Promise<string> =>
  JSON.stringify(
    await world.query('SELECT changes, outcome FROM contact_merges WHERE organization_id = $1', [
      organizationId,
    ]),
  );

describe('what is kept of a merge that is undone', () => {
  it('holds no value of anybody, whoever it came through', async () => {
    const { id, caller } = world.anOrganization();
    const [first, between, last] = [
      await world.created(caller, { phone: PHONE, attributes: { plan: 'of-the-first' } }),
      await world.created(caller),
      await world.created(caller),
    ];
    const inner = await merge(caller, between, first);
    const outer = await merge(caller, last, between);
    expect(await keptOf(id)).toContain(PHONE);
    await undo(caller, outer);
    await undo(caller, inner);
    const kept = await keptOf(id);
    expect(kept).not.toContain(PHONE);
    expect(kept).not.toContain('of-the-first');
    expect((await read(caller, first)).phone).toBe(PHONE);
  });

  it('shows by a repeat what the two have now', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [
      await world.created(caller, { last_name: 'Soto' }),
      await world.created(caller, { last_name: 'Rojas', national_id: RUT }),
    ];
    const done = await merge(caller, survivor, merged, { keep: { last_name: 'merged' } });
    const undone = await undo(caller, done);
    expect(await undo(caller, done)).toEqual(undone);
    expectStatus(await caller.patch(at(merged), { last_name: 'Vera', national_id: null }), 200);
    const { fields, moved, blockers } = await undo(caller, done);
    expect(fields).toEqual(
      expect.arrayContaining([
        { field: 'last_name', survivor: 'Soto', merged: 'Vera', kept: 'merged' },
        { field: 'national_id', survivor: null, merged: null, kept: 'merged' },
      ]),
    );
    expect([moved, blockers]).toEqual([undone.moved, undone.blockers]);
  });

  it('shows nothing by a repeat once one of them is erased', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [
      await world.created(caller, { last_name: null }),
      await world.created(caller, { last_name: 'Rojas' }),
    ];
    const body = { purpose: 'marketing', channel: null, status: 'denied' };
    expectStatus(await caller.post(at(merged, '/consents'), body), 201);
    const done = await merge(caller, survivor, merged);
    await undo(caller, done);
    const { consents } = await undo(caller, done);
    expect(consents).toEqual([
      { purpose: 'marketing', channel: null, survivor: null, merged: 'denied', result: 'denied' },
    ]);
    await world.query('UPDATE contacts SET erased_at = now() WHERE id = $1', [merged.id]);
    const repeated = await undo(caller, done);
    expect([repeated.fields, repeated.consents]).toEqual([[], []]);
  });
});

describe('a merge is undone to the byte', () => {
  it('although the keys of secrets were replaced meanwhile', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [
      await world.created(caller),
      await world.created(caller, { national_id: RUT }),
    ];
    const done = await merge(caller, survivor, merged);
    const { sealed } = world.core.app.app.get(NationalIdVault).seal(id, 'CL_RUT', RUT.value);
    await world.query(
      'UPDATE contacts SET national_id_sealed = $2 WHERE organization_id = $1 AND national_id_sealed IS NOT NULL',
      [id, sealed],
    );
    await undo(caller, done);
    expect((await read(caller, survivor)).national_id).toBeNull();
    expect((await read(caller, merged)).national_id?.masked).toBe('***5678-5');
  });

  it('although the type of an attribute was changed meanwhile', async () => {
    const { caller } = world.anOrganization();
    const path = '/v1/core/attribute-definitions';
    const body = { key: 'size', type: 'string' };
    const made = await caller.post<{ id: string }>(path, body);
    expectStatus(made, 201);
    const [survivor, merged] = [
      await world.created(caller),
      await world.created(caller, { attributes: { size: '42' } }),
    ];
    const before = profileOf(survivor);
    const done = await merge(caller, survivor, merged);
    expectStatus(await caller.patch(`${path}/${made.body.id}`, { type: 'integer' }), 200);
    expect((await read(caller, survivor)).attributes).toEqual({ size: 42 });
    const tried = await tryUndo(caller, done, { dry_run: true });
    expect(tried.body.contact.attributes).toEqual({});
    await undo(caller, done);
    expect(profileOf(await read(caller, survivor))).toEqual(before);
    expect((await read(caller, merged)).attributes).toEqual({ size: 42 });
  });
});
