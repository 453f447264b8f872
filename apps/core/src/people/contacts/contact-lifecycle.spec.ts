import { eventually, expectProblem, expectStatus, kafkaProbe, type Caller } from '@customer-platform/testing';
import { accepted, aTrack, START_MS } from '../../core.fixture.js';
import { at, CONTACTS, ContactWorld } from './contact.fixture.js';
import type { ContactDto } from './contact.dto.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('a soft-deleted contact', () => {
  it('takes its events without revival or twin, until another contact has its identifier', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { external_id: 'ana' });
    expectStatus(await caller.delete(at(contact)), 204);
    await accepted(caller, aTrack({ external_id: 'ana' }));
    const storedOn = async (): Promise<unknown[]> =>
      (
        await world.query('SELECT contact_id FROM events WHERE organization_id = $1 ORDER BY created_at', [
          id,
        ])
      ).map((row) => row['contact_id']);
    await eventually(async () => {
      expect(await storedOn()).toEqual([contact.id]);
    });
    const { body: deleted } = await caller.get<ContactDto>(at(contact));
    expect(deleted).toMatchObject({ version: 2 });
    expect(deleted.deleted_at).not.toBeNull();

    const second = await world.created(caller, { external_id: 'ana' });
    await accepted(caller, aTrack({ external_id: 'ana' }));
    await eventually(async () => {
      expect((await storedOn()).sort()).toEqual([contact.id, second.id].sort());
    });
    const conflict = expectProblem(await caller.post(at(contact, '/restore')), 409, 'restore_conflict');
    expect(conflict['conflicting_id']).toBe(second.id);
    expectStatus(await caller.delete(at(second)), 204);
    expectStatus(await caller.post(at(contact, '/restore')), 200);
    expect(await world.identitiesOf(contact)).toEqual(['external_id:ana']);
    expectProblem(await caller.post(at(second, '/restore')), 409, 'restore_conflict');
  });

  it('of 12 who ask for its identifier or its return at once, one has it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, caller } = world.anOrganization();
      const contact = await world.created(caller, { external_id: 'ana' });
      await caller.delete(at(contact));
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          n % 3 ? caller.post(CONTACTS, { external_id: 'ana' }) : caller.post(at(contact, '/restore')),
        ),
      );
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(answers.map(({ status }) => status).filter((status) => status > 409)).toEqual([]);
      const active = await world.query(
        'SELECT id FROM contacts WHERE organization_id = $1 AND deleted_at IS NULL',
        [id],
      );
      expect(active).toHaveLength(1);
    }
  });

  it('gives back its national id when another has it now', async () => {
    const { caller } = world.anOrganization();
    const national_id = { type: 'CL_RUT', value: '12345678-5' };
    const contact = await world.created(caller, { national_id });
    await caller.delete(at(contact));
    const second = await world.created(caller, { national_id });
    const conflict = expectProblem(await caller.post(at(contact, '/restore')), 409, 'restore_conflict');
    expect(conflict['conflicting_id']).toBe(second.id);
  });
});

describe('a merged contact', () => {
  it('is read at its survivor, takes no change, and is in no list', async () => {
    const { caller } = world.anOrganization();
    const [merged, middle, survivor] = [
      await world.created(caller),
      await world.created(caller),
      await world.created(caller),
    ];
    const merge = 'UPDATE contacts SET merged_into = $2 WHERE id = $1';
    await world.query(merge, [middle.id, survivor.id]);
    await world.query(merge, [merged.id, middle.id]);
    const read = await caller.get(at(merged));
    expect(read.status).toBe(307);
    expect(read.headers.get('location')).toBe(at(survivor));
    expect(read.headers.get('cache-control')).toBe('no-store');
    for (const answer of [
      await caller.patch(at(merged), { first_name: 'x' }),
      await caller.delete(at(merged)),
      await caller.post(at(merged, '/restore')),
      await caller.delete(at(merged, '/purge')),
    ]) {
      expect(expectProblem(answer, 409, 'contact_merged')['survivor_id']).toBe(survivor.id);
    }
    const { body } = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?include_deleted=true`);
    expect(body.data.map(({ id }) => id)).toEqual([survivor.id]);
  });
});

describe('DELETE /v1/core/contacts/{id}/purge', () => {
  const deleted = async (caller: Caller): Promise<ContactDto> => {
    const contact = await world.created(caller);
    expectStatus(await caller.delete(at(contact)), 204);
    return contact;
  };

  it('409 while its own events, its consents or another module point to it, with the counts', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller);
    const denied = { purpose: 'marketing', status: 'denied' };
    expectStatus(await caller.post(at(contact, '/consents'), denied), 201);
    expectStatus(await caller.delete(at(contact)), 204);
    await accepted(caller, aTrack({ external_id: contact.external_id }));
    await eventually(async () => {
      expect(await world.query('SELECT 1 FROM events WHERE organization_id = $1', [id])).toHaveLength(1);
    });
    world.count('crm', 'notes', 3);
    try {
      const problem = expectProblem(await caller.delete(at(contact, '/purge')), 409, 'resource_referenced');
      expect(problem['references']).toEqual([
        { module: 'core', resource: 'events', count: 1 },
        { module: 'core', resource: 'consents', count: 1 },
        { module: 'crm', resource: 'notes', count: 3 },
      ]);
    } finally {
      world.count('crm', 'notes', 0);
    }
    expectStatus(await caller.get(at(contact)), 200);
  });

  it.each(['crm', 'loyalty', 'messaging'] as const)(
    '503 while %s is silent, and nothing is removed',
    async (module) => {
      const { caller } = world.anOrganization();
      const contact = await deleted(caller);
      world.peers[module].outage(true);
      try {
        expectProblem(await caller.delete(at(contact, '/purge')), 503, 'dependency_unavailable');
      } finally {
        world.peers[module].outage(false);
      }
      expect(await world.identitiesOf(contact)).toHaveLength(1);
      expectStatus(await caller.delete(at(contact, '/purge')), 204);
      expect(await world.identitiesOf(contact)).toEqual([]);
      expect(await world.query('SELECT 1 FROM contact_activity WHERE contact_id = $1', [contact.id])).toEqual(
        [],
      );
    },
  );

  it('against events on their way: each is on the contact, which stays, or on a new one', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id, caller } = world.anOrganization();
      const contact = await deleted(caller);
      const [, purge] = await Promise.all([
        accepted(caller, aTrack({ external_id: contact.external_id })),
        caller.delete(at(contact, '/purge')),
      ]);
      await eventually(async () => {
        expect(await world.query('SELECT 1 FROM events WHERE organization_id = $1', [id])).toHaveLength(1);
      });
      const owned = await world.query(
        'SELECT 1 FROM events e JOIN contacts c ON c.id = e.contact_id WHERE e.organization_id = $1',
        [id],
      );
      expect(owned).toHaveLength(1);
      expect([204, 409]).toContain(purge.status);
    }
  });
});

describe('what is told of a contact', () => {
  it('has an event and an audit row for each change, in the order of versions, without values of the national id', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const national_id = { type: 'CL_RUT', value: '12345678-5' };
    const contact = await world.created(caller, { national_id, email: 'ana@example.com' });
    await caller.patch(at(contact), { email: 'new@example.com', attributes: { plan: 'gold' } });
    await caller.delete(at(contact));
    await caller.post(at(contact, '/restore'));
    await caller.delete(at(contact));
    expectStatus(await caller.delete(at(contact, '/purge')), 204);
    const [last] = await probe.expectEvents('core.contact.purged.v1', id, 1);
    expect(last?.data).toMatchObject({ contact_id: contact.id, version: 6, contact: null });
    const versions = (type: 'created' | 'updated' | 'deleted' | 'restored') =>
      probe.events(`core.contact.${type}.v1`, id).map(({ data }) => data.version);
    expect(versions('created')).toEqual([1]);
    expect(versions('updated')).toEqual([2]);
    expect(versions('deleted')).toEqual([3, 5]);
    expect(versions('restored')).toEqual([4]);
    const [update] = probe.events('core.contact.updated.v1', id);
    expect(update?.data.changed_fields.sort()).toEqual(['attributes.plan', 'email']);
    expect(probe.events('core.contact.created.v1', id)[0]?.data.changed_fields).toContain('national_id');
    expect(probe.events('core.identity.added.v1', id).map(({ data }) => data.type)).toEqual([
      'external_id',
      'email',
      'email',
    ]);
    expect(probe.events('core.identity.removed.v1', id).map(({ data }) => data.type)).toEqual(['email']);
    const audit = await world.query(
      'SELECT action, changed_fields FROM audit_entries WHERE organization_id = $1 ORDER BY occurred_at, id',
      [id],
    );
    const verbs = ['create', 'update', 'delete', 'restore', 'delete', 'purge'];
    expect(audit.map(({ action }) => action)).toEqual(verbs.map((verb) => `core.contacts.${verb}`));
    expect((audit[1]?.['changed_fields'] as string[]).sort()).toEqual(['attributes', 'email']);
    expect(audit[0]?.['changed_fields']).toContain('national_id');
  });

  it('is counted in usage', async () => {
    const { caller } = world.anOrganization();
    const [first, second] = [await world.created(caller), await world.created(caller)];
    await world.created(caller);
    await caller.delete(at(first));
    await caller.delete(at(second));
    await caller.post(at(second, '/restore'));
    await caller.delete(at(first, '/purge'));
    const day = new Date().toISOString().slice(0, 10);
    const usage = await caller.get<{ totals: { contacts: object } }>(`/v1/core/usage?from=${day}&to=${day}`);
    expect(usage.body.totals.contacts).toMatchObject({ created: 3, active: 2 });
  });
});
