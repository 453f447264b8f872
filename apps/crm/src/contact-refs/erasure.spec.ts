import { DatabaseUnavailable, SigningKeys } from '@customer-platform/database';
import { RECEIPTS, type ErasureRequested } from '@customer-platform/erasure';
import { contactChange, domainEvent, expectProblem, expectStatus } from '@customer-platform/testing';
import { compactVerify, importJWK } from 'jose';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { ContactRefsConsumer } from './contact-refs.consumer.js';
import { ErasureWorld, NOTES } from './erasure.fixture.js';

let crm: TestCrm;
let consumer: ContactRefsConsumer;
beforeAll(async () => {
  crm = await startCrm();
  consumer = crm.app.app.get(ContactRefsConsumer);
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

describe('the erasure of a contact', () => {
  it('takes its rows, soft-deleted too, and leaves those of others', async () => {
    const world = new ErasureWorld(crm);
    const [contact, other] = [await world.contact(), await world.contact()];
    const deleted = await world.note(contact);
    await world.caller.delete(`${NOTES}/${deleted}`);
    await world.note(contact);
    const kept = await world.note(other);
    const request = world.request(contact);
    await consumer.erase([request]);
    expect(await world.notes()).toBe(1);
    expectStatus(await world.caller.get(`${NOTES}/${kept}`), 200);
    const [told] = await world.told(request);
    expect(told).toMatchObject({ correlationid: request.correlationid, causationid: request.id });
    expect(told?.data.counts).toMatchObject({ notes: 2 });
  });

  it('ends in a receipt that the shown keys verify, and that names nobody', async () => {
    const world = new ErasureWorld(crm);
    const contact = await world.contact();
    await world.note(contact);
    const request = world.request(contact);
    await consumer.erase([request]);
    const [told] = await world.told(request);
    const receipt = told?.data.receipt ?? '';
    const keys = await crm.app.app.get(SigningKeys).shown(RECEIPTS, 0);
    const { payload, protectedHeader } = await compactVerify(receipt, async ({ kid }) =>
      importJWK(keys.find((key) => key.kid === kid) ?? {}, 'ES256'),
    );
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'erasure-receipt+jws' });
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      module: 'crm',
      organization_id: world.organizationId,
      subject_request_id: request.data.subject_request_id,
      counts: told?.data.counts,
      completed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    });
    const stored = await crm.database.query(
      'SELECT row_to_json(r)::text AS row FROM erasure_receipts r WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(contact);
  });

  it('asked for again, also at the same time, answers with the one receipt', async () => {
    const world = new ErasureWorld(crm);
    const contact = await world.contact();
    await world.note(contact);
    const request = world.request(contact);
    await Promise.all(Array.from({ length: 5 }, () => consumer.erase([request])));
    await consumer.erase([request, request]);
    const told = await world.told(request);
    expect(told).toHaveLength(7);
    expect(new Set(told.map(({ data }) => data.receipt)).size).toBe(1);
    expect(told[0]?.data.counts).toMatchObject({ notes: 1 });
  });

  it('takes what is parked of the contact and of those merged into it, also when it was parked since', async () => {
    const world = new ErasureWorld(crm);
    const [contact, merged, other] = [await world.contact(), await world.contact(), await world.contact()];
    await crm.database.query(
      `UPDATE contact_refs SET state = 'merged', merged_into = $3 WHERE organization_id = $1 AND id = $2`,
      [world.organizationId, merged, contact],
    );
    const parked = async () => {
      for (const [key, payload] of Object.entries({
        [contact]: {},
        [other]: {},
        list: { merged_id: merged },
      }))
        await world.parks('core.contact.updated.v1', key, payload);
    };
    const request = world.request(contact, [contact, merged]);
    await parked();
    await consumer.erase([request]);
    expect(await world.parked()).toEqual([other]);
    await parked();
    await consumer.erase([request]);
    expect(await world.parked()).toEqual([other, other]);
  });

  it('asked for again takes, and gives back, what the release before left under the contact', async () => {
    const world = new ErasureWorld(crm);
    const [erased, living, active] = [await world.contact(), await world.contact(), await world.contact()];
    await world.note(erased);
    const request = world.request(erased, [erased]);
    await consumer.erase([request]);
    const notes = [await world.note(living), await world.note(active), await world.note(active)];
    for (const [note, origin] of [
      [notes[0], living],
      [notes[1], erased],
    ])
      await crm.database.query(
        'UPDATE notes SET contact_id = $2, origin_contact_id = $3 WHERE organization_id = $4 AND id = $1',
        [note, erased, origin, world.organizationId],
      );
    await consumer.erase([request]);
    const rows = await crm.database.query(
      'SELECT id, contact_id FROM notes WHERE organization_id = $1 ORDER BY created_at, id',
      [world.organizationId],
    );
    expect(rows).toEqual([
      { id: notes[0], contact_id: living },
      { id: notes[2], contact_id: active },
    ]);
    const told = await world.told(request);
    expect(new Set(told.map(({ data }) => data.receipt)).size).toBe(1);
    expect(told).toHaveLength(2);
  });

  it('asked for by another request finds nothing, and says so', async () => {
    const world = new ErasureWorld(crm);
    const contact = await world.contact();
    await world.note(contact);
    const [first, second] = [world.request(contact), world.request(contact)];
    await consumer.erase([first, second]);
    expect((await world.told(second))[0]?.data.counts).toMatchObject({ notes: 0 });
  });

  it('holds against whatever is told of the contact later', async () => {
    const world = new ErasureWorld(crm);
    const contact = await world.contact();
    await consumer.erase([world.request(contact)]);
    await consumer.follow([
      domainEvent('core.contact.updated.v1', world.organizationId, contactChange(contact, 9)),
    ]);
    const answer = await world.caller.post(NOTES, { contact_id: contact, body: 'A note' });
    expectProblem(answer, 422, 'reference_not_found');
  });

  it('holds for a contact that was never told of, whatever core still answers', async () => {
    const world = new ErasureWorld(crm);
    const { id } = crm.aContact(world.organizationId);
    await consumer.erase([world.request(id)]);
    const answer = await world.caller.post(NOTES, { contact_id: id, body: 'A note' });
    expectProblem(answer, 422, 'reference_not_found');
  });

  it('leaves the same contact id of another organization alone', async () => {
    const [world, other] = [new ErasureWorld(crm), new ErasureWorld(crm)];
    const contact = await world.contact();
    await consumer.follow([
      domainEvent('core.contact.created.v1', other.organizationId, contactChange(contact, 1)),
    ]);
    await other.note(contact);
    await consumer.erase([world.request(contact)]);
    expect(await other.notes()).toBe(1);
  });

  it('races 100 notes: none is left after the receipt', async () => {
    const world = new ErasureWorld(crm);
    const contact = await world.contact();
    const writing = Array.from({ length: 100 }, () =>
      world.caller.post(NOTES, { contact_id: contact, body: 'A note' }),
    );
    const request = world.request(contact);
    await Promise.race(writing);
    await eraseAsDelivered(request);
    expect(await world.notes()).toBe(0);
    const statuses = (await Promise.all(writing)).map(({ status }) => status);
    expect(await world.notes()).toBe(0);
    const written = statuses.filter((status) => status === 201).length;
    // On a busy machine some are told that no connection came free.
    const refused = statuses.filter((status) => status === 422 || status === 503);
    expect(refused).toHaveLength(100 - written);
    expect((await world.told(request))[0]?.data.counts).toMatchObject({ notes: written });
  });
});

/** As the event bus delivers: again, while all connections are taken. */
async function eraseAsDelivered(request: ErasureRequested): Promise<void> {
  for (;;) {
    try {
      return await consumer.erase([request]);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
  }
}

describe('the keys of receipts', () => {
  it('are for core alone', async () => {
    const answer = await fetch(`${crm.app.internalUrl}/internal/erasure/keys`);
    expect(answer.status).toBe(401);
  });
});

describe('an erasure heard of before', () => {
  it('the undo that parted its contact from another takes what still stands under the other', async () => {
    const world = new ErasureWorld(crm);
    const [merged, survivor] = [await world.contact(), await world.contact()];
    const kept = await world.note(survivor);
    await world.note(merged);
    const list = await world.list([merged, survivor]);
    await world.hears('merged', survivor, merged, 2);
    expect(await world.members(list)).toEqual({ count: 1, ids: [survivor] });
    const request = world.request(merged, [merged]);
    await consumer.erase([request]);
    const [told] = await world.told(request);
    expect(told?.data.counts).toMatchObject({ notes: 1, 'list-members': 1 });
    for (const heard of [false, true]) {
      if (heard) await world.hears('unmerged', survivor, merged, 3);
      expect(await world.notes()).toBe(1);
      expect((await world.caller.get<{ contact_id: string }>(`${NOTES}/${kept}`)).body.contact_id).toBe(
        survivor,
      );
      expect(await world.members(list)).toEqual({ count: 1, ids: [survivor] });
    }
  });

  it.each(['named', 'not named'])('a merge takes what was written on who was merged, %s', async (how) => {
    const world = new ErasureWorld(crm);
    const ids = [await world.contact(), await world.contact(), await world.contact()];
    const [survivor = '', between = '', merged = ''] = ids;
    for (const id of ids) await world.note(id);
    const list = await world.list([merged]);
    await world.hears('merged', survivor, between, 3);
    const request = world.request(survivor, how === 'named' ? ids : undefined);
    await consumer.erase([request]);
    const [told] = await world.told(request);
    expect(told?.data.counts).toMatchObject({ notes: how === 'named' ? 3 : 2 });
    await world.hears('merged', between, merged, 2);
    const end = { contact_id: merged, version: 9, changed_fields: [], contact: null };
    await consumer.follow([domainEvent('core.contact.erased.v1', world.organizationId, end)]);
    expect(await world.notes()).toBe(0);
    expect(await world.members(list)).toEqual({ count: 0, ids: [] });
  });

  it.each(['named', 'not named'])(
    'after the end of who was merged counts what was theirs, %s',
    async (how) => {
      const world = new ErasureWorld(crm);
      const [survivor, merged] = [await world.contact(), await world.contact()];
      for (const id of [survivor, merged]) await world.note(id);
      await world.hears('merged', survivor, merged, 2);
      const end = { contact_id: merged, version: 3, changed_fields: [], contact: null };
      await consumer.follow([domainEvent('core.contact.erased.v1', world.organizationId, end)]);
      const request = world.request(survivor, how === 'named' ? [survivor, merged] : undefined);
      await consumer.erase([request]);
      const [told] = await world.told(request);
      expect(told?.data.counts).toMatchObject({ notes: 2 });
      expect(await world.notes()).toBe(0);
    },
  );

  it.each(['before the request', 'before it was asked again'])(
    'gives back what is theirs to whom an undo has parted, which was parked %s and goes',
    async (when) => {
      const world = new ErasureWorld(crm);
      const [erased, parted] = [await world.contact(), await world.contact()];
      const kept = await world.note(parted);
      const list = await world.list([parted]);
      const request = world.request(erased, [erased]);
      if (when === 'before it was asked again') await consumer.erase([request]);
      await world.hears('merged', erased, parted, 2);
      await world.parks('core.contact.unmerged.v1', erased, { merged_id: parted });
      await consumer.erase([request]);
      expect(await world.parked()).toEqual([]);
      const told = await world.told(request);
      expect(told.at(-1)?.data.counts).toMatchObject({ notes: 0, 'list-members': 0 });
      // Told again, the merge does not take it away.
      await world.hears('merged', erased, parted, 2);
      const note = await world.caller.get<{ contact_id: string }>(`${NOTES}/${kept}`);
      expect(note.body.contact_id).toBe(parted);
      expect(await world.members(list)).toEqual({ count: 1, ids: [parted] });
      await world.note(parted);
    },
  );

  it('the undo of an inner merge leaves what was written on whom core does not name', async () => {
    const world = new ErasureWorld(crm);
    const ids = [await world.contact(), await world.contact(), await world.contact()];
    const [survivor = '', between = '', parted = ''] = ids;
    for (const id of ids) await world.note(id);
    const list = await world.list([parted]);
    await world.hears('merged', between, parted, 2);
    await world.hears('merged', survivor, between, 4);
    await consumer.erase([world.request(survivor, [survivor, between])]);
    await world.hears('merged', survivor, between, 4);
    expect(await world.notes()).toBe(1);
    await world.hears('unmerged', between, parted, 3);
    expect(await world.members(list)).toEqual({ count: 1, ids: [parted] });
    const [row] = await crm.database.query('SELECT contact_id FROM notes WHERE organization_id = $1', [
      world.organizationId,
    ]);
    expect(row).toEqual({ contact_id: parted });
  });
});
