import { newId, ReferenceHolds } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import {
  anOrganization,
  type Answer,
  type Caller,
  contactChange,
  domainEvent,
  expectStatus,
} from '@customer-platform/testing';
import { startCrm, type StubContact, type TestCrm } from '../crm.fixture.js';
import { ContactRefsConsumer } from './contact-refs.consumer.js';

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

/** What can belong to a contact. */
const KINDS = {
  note: { table: 'notes', resource: 'notes' },
  activity: { table: 'activities', resource: 'activities' },
  'list member': { table: 'list_members', resource: 'list-members' },
} as const;
type Kind = keyof typeof KINDS;

/** An organization that writes rows of one kind on contacts. */
class World {
  readonly organizationId = anOrganization().id;
  private readonly caller: Caller = crm.app.as(this.organizationId, [
    'crm.notes.create',
    'crm.activities.create',
    'crm.activity_types.create',
    'crm.lists.create',
    'crm.lists.update',
  ]);
  private version = 1;
  private typeId = '';
  private listId = '';

  constructor(readonly kind: Kind) {}

  static async of(kind: Kind): Promise<World> {
    const world = new World(kind);
    const made = async (path: string, body: object): Promise<string> => {
      const answer = await world.caller.post<{ id: string }>(`/v1/crm/${path}`, body);
      expectStatus(answer, 201);
      return answer.body.id;
    };
    if (kind === 'activity') world.typeId = await made('activity-types', { key: 'call', name: 'Call' });
    if (kind === 'list member') world.listId = await made('lists', { name: 'A list' });
    return world;
  }

  /** Writes one on the contact: 200 or 201 when it is taken. */
  write(contact_id: string): Promise<Answer<{ code: string }>> {
    switch (this.kind) {
      case 'note':
        return this.caller.post('/v1/crm/notes', { contact_id, body: 'A note' });
      case 'activity':
        return this.caller.post('/v1/crm/activities', { contact_id, type_id: this.typeId, subject: 'x' });
      case 'list member':
        return this.caller.post(`/v1/crm/lists/${this.listId}/members`, { contact_ids: [contact_id] });
    }
  }

  /** A contact that core knows and, unless it is said to lag, the projection too. */
  async contact(override: Partial<StubContact> = {}, lagging = false): Promise<string> {
    const { id } = crm.aContact(this.organizationId, override);
    if (!lagging) await consumer.follow([this.created(id)]);
    return id;
  }

  created(id: string): DomainEvent<'core.contact.created.v1'> {
    return domainEvent('core.contact.created.v1', this.organizationId, contactChange(id, 1));
  }

  /** Core ends a contact: from now on it says so when asked; the event is told by `tell`. */
  end(id: string, verb: 'purged' | 'erased'): () => Promise<void> {
    this.version += 1;
    const at = crm.modules.contacts.findIndex((contact) => contact.id === id);
    if (at >= 0) crm.modules.contacts.splice(at, 1);
    const data = { contact_id: id, version: this.version, changed_fields: [], contact: null };
    const told = domainEvent(`core.contact.${verb}.v1`, this.organizationId, data);
    return () => consumer.follow([told]);
  }

  async rows(): Promise<string[]> {
    const rows = await crm.database.query<{ contact_id: string }>(
      `SELECT contact_id FROM ${KINDS[this.kind].table} WHERE organization_id = $1`,
      [this.organizationId],
    );
    return rows.map((row) => row.contact_id);
  }

  /** Core's question before it purges a contact: what it hears of this kind. */
  async ask(id: string): Promise<number> {
    const held = { organizationId: this.organizationId, resource: 'core.contacts', id };
    const counts = await crm.app.app.get(ReferenceHolds).countAndHold(held, newId(), 10_000);
    return counts.find(({ resource }) => resource === KINDS[this.kind].resource)?.count ?? NaN;
  }
}

const taken = ({ status }: Answer<unknown>): boolean => status === 200 || status === 201;

describe.each(Object.keys(KINDS) as Kind[])('a %s', (kind) => {
  let world: World;
  beforeEach(async () => {
    world = await World.of(kind);
  });

  it('is never on a foreign contact, or one that is gone, though the projection lags', async () => {
    const foreign = crm.aContact(newId()).id;
    const erased = await world.contact({ state: 'erased' }, true);
    const purged = await world.contact({}, true);
    await world.end(purged, 'purged')();
    for (const id of [foreign, erased, purged, newId()]) {
      const { status, body } = await world.write(id);
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'reference_not_found' });
    }
    expect(await world.rows()).toEqual([]);
  });

  it.each(['purged', 'erased'] as const)(
    'goes when the event that its contact was %s comes late',
    async (verb) => {
      const [contact, other] = [await world.contact(), await world.contact()];
      const tell = world.end(contact, verb);
      expect(taken(await world.write(contact))).toBe(true);
      expect(taken(await world.write(other))).toBe(true);
      await tell();
      await tell();
      await consumer.follow([world.created(contact)]);
      expect(await world.rows()).toEqual([other]);
      expect((await world.write(contact)).status).toBe(422);
    },
  );

  it('is not written while core is down and must be asked; where it need not be it is, and goes with the contact', async () => {
    const [known, unknown] = [await world.contact(), await world.contact({}, true)];
    crm.modules.lookup = 'hangs up';
    const { status, body } = await world.write(unknown);
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'dependency_unavailable' });
    expect(taken(await world.write(known))).toBe(true);
    expect(await world.rows()).toEqual([known]);
    await world.end(known, 'erased')();
    expect(await world.rows()).toEqual([]);
  });

  it('is counted before a purge of its contact, or refused while that runs: never missed', async () => {
    for (let round = 0; round < 6; round += 1) {
      const contact = await world.contact();
      const writing = Array.from({ length: 4 }, () => world.write(contact));
      const [count] = await Promise.all([world.ask(contact), ...writing]);
      const answers = await Promise.all(writing);
      if (count > 0) continue;
      for (const { status, body } of answers)
        expect({ status, code: body.code }).toEqual({ status: 422, code: 'reference_deleted' });
      await world.end(contact, 'purged')();
      expect(await world.rows()).not.toContain(contact);
    }
  });

  it('written by six callers until they are refused: none is left of an erased contact', async () => {
    const contact = await world.contact();
    let written = 0;
    const tell = world.end(contact, 'erased');
    const callers = Array.from({ length: 6 }, async () => {
      for (;;) {
        const answer = await world.write(contact);
        if (!taken(answer)) return answer;
        written += 1;
        if (written === 30) await tell();
      }
    });
    for (const refused of await Promise.all(callers)) expect(refused.status).toBe(422);
    expect(written).toBeGreaterThanOrEqual(30);
    expect(await world.rows()).toEqual([]);
  });
});
