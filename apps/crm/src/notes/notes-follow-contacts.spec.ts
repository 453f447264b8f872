import { newId, ReferenceHolds, type ReferenceCount } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  anOrganization,
  type Caller,
  contactChange,
  domainEvent,
  expectProblem,
  expectStatus,
} from '@customer-platform/testing';
import { ContactRefsConsumer } from '../contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import type { NoteDto } from './note.dto.js';

const NOTES = '/v1/crm/notes';

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

type Merge = DomainEvent<'core.contact.merged.v1' | 'core.contact.unmerged.v1'>;

/** An organization whose contacts are told of by core's events. */
class World {
  readonly organizationId = anOrganization().id;
  readonly caller: Caller = crm.app.as(this.organizationId, [
    'crm.notes.create',
    'crm.notes.read',
    'crm.notes.update',
    'crm.notes.delete',
    'crm.notes.purge',
  ]);
  private version = 1;

  async contact(): Promise<string> {
    const id = newId();
    await consumer.follow([
      domainEvent('core.contact.created.v1', this.organizationId, contactChange(id, 1)),
    ]);
    return id;
  }

  merge(survivor: string, merged: string, verb: 'merged' | 'unmerged' = 'merged'): Merge {
    this.version += 1;
    return domainEvent(`core.contact.${verb}.v1`, this.organizationId, {
      merge_id: newId(),
      survivor_id: survivor,
      merged_id: merged,
      survivor_version: this.version,
      merged_version: this.version,
    });
  }

  end(
    id: string,
    verb: 'purged' | 'erased',
  ): DomainEvent<'core.contact.purged.v1' | 'core.contact.erased.v1'> {
    this.version += 1;
    const data = { contact_id: id, version: this.version, changed_fields: [], contact: null };
    return domainEvent(`core.contact.${verb}.v1`, this.organizationId, data);
  }

  request(contactId: string): DomainEvent<'core.erasure.requested.v1'> {
    const data = { subject_request_id: newId(), contact_id: contactId };
    return domainEvent('core.erasure.requested.v1', this.organizationId, data);
  }

  async note(contactId: string): Promise<NoteDto> {
    const answer = await this.caller.post<NoteDto>(NOTES, { contact_id: contactId, body: 'A note' });
    expectStatus(answer, 201);
    return answer.body;
  }

  async read({ id }: NoteDto): Promise<NoteDto> {
    return (await this.caller.get<NoteDto>(`${NOTES}/${id}`)).body;
  }

  /** How many notes there are, soft-deleted ones too, by contact. */
  async counts(): Promise<Record<string, number>> {
    const rows = await crm.database.query(
      'SELECT contact_id, count(*)::int AS count FROM notes WHERE organization_id = $1 GROUP BY contact_id',
      [this.organizationId],
    );
    return Object.fromEntries(rows.map((row) => [row['contact_id'], row['count']])) as Record<string, number>;
  }
}

describe('notes of contacts that merge', () => {
  it('move to the survivor, soft-deleted ones too, and back with the undo; each state has an ETag of its own', async () => {
    const world = new World();
    const [survivor, merged] = [await world.contact(), await world.contact()];
    const [own, moved, gone] = [
      await world.note(survivor),
      await world.note(merged),
      await world.note(merged),
    ];
    await world.caller.delete(`${NOTES}/${gone.id}`);
    const deleted = await world.read(gone);
    await consumer.follow([world.merge(survivor, merged)]);
    const states = [await world.read(moved)];
    expect(states[0]).toEqual({ ...moved, contact_id: survivor, updated_at: expect.any(String) });
    expect(await world.read(gone)).toEqual({
      ...{ ...deleted, contact_id: survivor, updated_at: expect.any(String) },
    });
    const later = await world.note(merged);
    expect(later.contact_id).toBe(survivor);
    await consumer.follow([world.merge(survivor, merged, 'unmerged')]);
    states.push(await world.read(moved));
    expect(states[1]).toEqual({ ...moved, updated_at: expect.any(String) });
    expect(new Set([moved, ...states].map(({ updated_at: at }) => at)).size).toBe(3);
    expect(await world.read(gone)).toEqual({ ...deleted, updated_at: expect.any(String) });
    expect(await world.read(own)).toEqual(own);
    expect((await world.read(later)).contact_id).toBe(survivor);
  });

  it('end at the last survivor, whatever the order in which merges are told, and however often', async () => {
    const world = new World();
    const [a, b, c] = [await world.contact(), await world.contact(), await world.contact()];
    for (const contact of [a, b, c]) await world.note(contact);
    const [first, second] = [world.merge(b, a), world.merge(c, b)];
    for (const told of [[second], [first], [first, second], [second]]) await consumer.follow(told);
    expect(await world.counts()).toEqual({ [c]: 3 });
    await consumer.follow([world.merge(c, b, 'unmerged')]);
    expect(await world.counts()).toEqual({ [b]: 2, [c]: 1 });
  });

  it('none is left behind by notes written while the merge is told', async () => {
    const world = new World();
    const [survivor, merged] = [await world.contact(), await world.contact()];
    const writing = Array.from({ length: 40 }, () => world.note(merged));
    await consumer.follow([world.merge(survivor, merged)]);
    await Promise.all(writing);
    expect(await world.counts()).toEqual({ [survivor]: 40 });
  });

  it('of another organization stay where they are', async () => {
    const [world, other] = [new World(), new World()];
    const [survivor, merged] = [await world.contact(), await world.contact()];
    await consumer.follow([
      domainEvent('core.contact.created.v1', other.organizationId, contactChange(merged, 1)),
    ]);
    await other.note(merged);
    await consumer.follow([world.merge(survivor, merged)]);
    await consumer.follow([world.end(merged, 'erased')]);
    expect(await other.counts()).toEqual({ [merged]: 1 });
  });
});

describe('notes of a soft-deleted contact', () => {
  it('stay readable and editable; new ones are refused', async () => {
    const world = new World();
    const contact = await world.contact();
    const note = await world.note(contact);
    await consumer.follow([
      domainEvent('core.contact.deleted.v1', world.organizationId, contactChange(contact, 2, 'deleted')),
    ]);
    const at = `${NOTES}/${note.id}`;
    expectStatus(await world.caller.patch(at, { body: 'Still editable' }), 200);
    expectStatus(await world.caller.delete(at), 204);
    expectStatus(await world.caller.post(`${at}/restore`), 200);
    const answer = await world.caller.post(NOTES, { contact_id: contact, body: 'A note' });
    expectProblem(answer, 422, 'reference_deleted');
  });
});

describe.each(['erased', 'purged'] as const)('notes of a contact that is %s', (verb) => {
  it('go, soft-deleted ones too, and those of contacts merged into it', async () => {
    const world = new World();
    const [contact, merged, other] = [await world.contact(), await world.contact(), await world.contact()];
    const notes = [await world.note(contact), await world.note(merged)];
    const deleted = await world.note(contact);
    await world.caller.delete(`${NOTES}/${deleted.id}`);
    const kept = await world.note(other);
    await consumer.follow([world.merge(contact, merged)]);
    if (verb === 'erased') await consumer.erase([world.request(contact)]);
    await consumer.follow([world.end(contact, verb)]);
    for (const { id } of [...notes, deleted]) {
      expectProblem(await world.caller.get(`${NOTES}/${id}`), 404, 'not_found');
      expectProblem(await world.caller.patch(`${NOTES}/${id}`, { body: 'x' }), 404, 'not_found');
      expectProblem(await world.caller.post(`${NOTES}/${id}/restore`), 404, 'not_found');
    }
    expect(await world.read(kept)).toEqual(kept);
    for (const id of [contact, merged]) {
      const answer = await world.caller.post(NOTES, { contact_id: id, body: 'A note' });
      expectProblem(answer, 422, 'reference_not_found');
    }
  });

  it('written without pause by eight callers until they are refused: none is left', async () => {
    const world = new World();
    const contact = await world.contact();
    let written = 0;
    const callers = Array.from({ length: 8 }, async () => {
      for (;;) {
        const answer = await world.caller.post(NOTES, { contact_id: contact, body: 'A note' });
        if (answer.status !== 201) return answer;
        written += 1;
        if (written === 100) await consumer.follow([world.end(contact, verb)]);
      }
    });
    for (const refused of await Promise.all(callers)) expectProblem(refused, 422, 'reference_not_found');
    expect(written).toBeGreaterThanOrEqual(100);
    expect(await world.counts()).toEqual({});
  });
});

describe('the question of core before it purges a contact', () => {
  const ask = async (world: World, id: string): Promise<ReferenceCount[]> => {
    const contact = { organizationId: world.organizationId, resource: 'core.contacts', id };
    const counts = await crm.app.app.get(ReferenceHolds).countAndHold(contact, newId(), 10_000);
    return counts.filter(({ resource }) => resource === 'notes');
  };

  it('counts its notes, soft-deleted too; from then on none is added to a contact without', async () => {
    const world = new World();
    const [contact, other] = [await world.contact(), await world.contact()];
    const [one, two] = [await world.note(contact), await world.note(contact)];
    await world.caller.delete(`${NOTES}/${two.id}`);
    expect(await ask(world, contact)).toEqual([{ module: 'crm', resource: 'notes', count: 2 }]);
    await world.note(contact);
    for (const { id } of [one, two]) {
      await world.caller.delete(`${NOTES}/${id}`);
      await world.caller.delete(`${NOTES}/${id}/purge`);
    }
    expect(await ask(world, other)).toEqual([{ module: 'crm', resource: 'notes', count: 0 }]);
    const answer = await world.caller.post(NOTES, { contact_id: other, body: 'A note' });
    expectProblem(answer, 422, 'reference_deleted');
    await world.note(contact);
  });

  it('while notes are being written: either it counts them or they are refused', async () => {
    const world = new World();
    for (let round = 0; round < 10; round += 1) {
      const contact = await world.contact();
      const writing = Array.from({ length: 4 }, () =>
        world.caller.post(NOTES, { contact_id: contact, body: 'A note' }),
      );
      const [references] = await Promise.all([ask(world, contact), ...writing]);
      const statuses = (await Promise.all(writing)).map(({ status }) => status);
      if (references[0]?.count === 0) expect(statuses).toEqual([422, 422, 422, 422]);
      else expect(statuses).toEqual([201, 201, 201, 201]);
    }
  });
});
