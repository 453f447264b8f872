import { DatabaseUnavailable, newId, SigningKeys } from '@customer-platform/database';
import { RECEIPTS, type ErasureRequested } from '@customer-platform/erasure';
import type { DomainEvent } from '@customer-platform/events';
import {
  anOrganization,
  type Caller,
  contactChange,
  domainEvent,
  expectProblem,
  expectStatus,
} from '@customer-platform/testing';
import { compactVerify, importJWK } from 'jose';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { ContactRefsConsumer } from './contact-refs.consumer.js';

const NOTES = '/v1/crm/notes';
const LISTS = '/v1/crm/lists';

type Completed = DomainEvent<'crm.erasure.completed.v1'>;

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

/** An organization with contacts, notes, and requests to erase. */
class World {
  readonly organizationId = anOrganization().id;
  readonly caller: Caller = crm.app.as(this.organizationId, [
    'crm.notes.create',
    'crm.notes.read',
    'crm.notes.delete',
    'crm.lists.create',
    'crm.lists.read',
    'crm.lists.update',
  ]);

  async contact(): Promise<string> {
    const id = newId();
    await consumer.follow([
      domainEvent('core.contact.created.v1', this.organizationId, contactChange(id, 1)),
    ]);
    return id;
  }

  async note(contactId: string): Promise<string> {
    const answer = await this.caller.post<{ id: string }>(NOTES, { contact_id: contactId, body: 'A note' });
    expectStatus(answer, 201);
    return answer.body.id;
  }

  request(contactId: string, contactIds?: string[]): ErasureRequested {
    return domainEvent('core.erasure.requested.v1', this.organizationId, {
      subject_request_id: newId(),
      contact_id: contactId,
      ...(contactIds && { contact_ids: contactIds }),
    });
  }

  /** Core's news of a merge or of its undoing, heard now. */
  hears(verb: 'merged' | 'unmerged', survivor: string, merged: string, version: number): Promise<void> {
    const versions = { survivor_version: version, merged_version: version };
    const data = { merge_id: newId(), survivor_id: survivor, merged_id: merged, ...versions };
    return consumer.follow([domainEvent(`core.contact.${verb}.v1`, this.organizationId, data)]);
  }

  /** A list that holds these contacts, added one after the other. */
  async list(contactIds: readonly string[]): Promise<string> {
    const answer = await this.caller.post<{ id: string }>(LISTS, { name: newId() });
    expectStatus(answer, 201);
    for (const id of contactIds)
      expectStatus(await this.caller.post(`${LISTS}/${answer.body.id}/members`, { contact_ids: [id] }), 200);
    return answer.body.id;
  }

  /** Whom a list counts, and whom it shows. */
  async members(list: string): Promise<{ count: number; ids: string[] }> {
    const [{ body: own }, { body: members }] = [
      await this.caller.get<{ member_count: number }>(`${LISTS}/${list}`),
      await this.caller.get<{ data: { contact_id: string }[] }>(`${LISTS}/${list}/members`),
    ];
    return { count: own.member_count, ids: members.data.map(({ contact_id: id }) => id) };
  }

  async notes(): Promise<number> {
    const [row] = await crm.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM notes WHERE organization_id = $1',
      [this.organizationId],
    );
    return row?.count ?? NaN;
  }

  /** What was told of a request, oldest first. */
  async told({ data }: ErasureRequested): Promise<Completed[]> {
    const rows = await crm.database.query<{ messages: [string, string][] }>(
      'SELECT messages FROM outbox WHERE organization_id = $1 ORDER BY id',
      [this.organizationId],
    );
    return rows
      .flatMap(({ messages }) => messages.map(([, value]) => JSON.parse(value) as Completed))
      .filter(({ type }) => type === 'crm.erasure.completed.v1')
      .filter((each) => each.data.subject_request_id === data.subject_request_id);
  }
}

describe('the erasure of a contact', () => {
  it('takes its rows, soft-deleted too, and leaves those of others', async () => {
    const world = new World();
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
    const world = new World();
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
    const world = new World();
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
    const world = new World();
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
        await crm.database.query(
          `INSERT INTO parked_events (organization_id, id, consumer, topic, key, event_id, event_type, payload, error,
                                      attempts)
           VALUES ($1, gen_random_uuid(), 'c', 't', $2, gen_random_uuid(), 'core.contact.updated.v1', $3, 'E', 1)`,
          [world.organizationId, key, JSON.stringify(payload)],
        );
    };
    const keys = async () => {
      const rows = await crm.database.query<{ key: string }>(
        'SELECT key FROM parked_events WHERE organization_id = $1',
        [world.organizationId],
      );
      return rows.map(({ key }) => key);
    };
    const request = world.request(contact, [contact, merged]);
    await parked();
    await consumer.erase([request]);
    expect(await keys()).toEqual([other]);
    await parked();
    await consumer.erase([request]);
    expect(await keys()).toEqual([other, other]);
  });

  it('asked for by another request finds nothing, and says so', async () => {
    const world = new World();
    const contact = await world.contact();
    await world.note(contact);
    const [first, second] = [world.request(contact), world.request(contact)];
    await consumer.erase([first, second]);
    expect((await world.told(second))[0]?.data.counts).toMatchObject({ notes: 0 });
  });

  it('holds against whatever is told of the contact later', async () => {
    const world = new World();
    const contact = await world.contact();
    await consumer.erase([world.request(contact)]);
    await consumer.follow([
      domainEvent('core.contact.updated.v1', world.organizationId, contactChange(contact, 9)),
    ]);
    const answer = await world.caller.post(NOTES, { contact_id: contact, body: 'A note' });
    expectProblem(answer, 422, 'reference_not_found');
  });

  it('holds for a contact that was never told of, whatever core still answers', async () => {
    const world = new World();
    const { id } = crm.aContact(world.organizationId);
    await consumer.erase([world.request(id)]);
    const answer = await world.caller.post(NOTES, { contact_id: id, body: 'A note' });
    expectProblem(answer, 422, 'reference_not_found');
  });

  it('leaves the same contact id of another organization alone', async () => {
    const [world, other] = [new World(), new World()];
    const contact = await world.contact();
    await consumer.follow([
      domainEvent('core.contact.created.v1', other.organizationId, contactChange(contact, 1)),
    ]);
    await other.note(contact);
    await consumer.erase([world.request(contact)]);
    expect(await other.notes()).toBe(1);
  });

  it('races 100 notes: none is left after the receipt', async () => {
    const world = new World();
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
    const world = new World();
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
    const world = new World();
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
      const world = new World();
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

  it('the undo of an inner merge leaves what was written on whom core does not name', async () => {
    const world = new World();
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
