import type { ContactChanged, ContactsMerged } from '@customer-platform/contact-refs';
import { newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { domainEvent } from '@customer-platform/testing';
import { ContactProjection, type Consented } from './people/contacts/contact-projection.js';
import { Devices, type IdentityChange } from './people/contacts/devices.js';
import { aContact, messagingWorld, type MessagingWorld } from './messaging.fixture.js';
import { organizationChange } from './background/organizations/organization-change.fixture.js';
import { OrganizationStates, type StateChange } from './background/organizations/organization-states.js';

const EARLIER = '2026-01-05T09:00:00.000Z';
const LATER = '2026-01-05T09:00:00.001Z';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

const at = <E extends DomainEvent>(time: string, event: E): E => ({ ...event, time });

describe('a state of an organization that is told again after a newer one', () => {
  const hear = (...events: DomainEvent<StateChange>[]) => world.app.app.get(OrganizationStates).apply(events);
  const statusOf = async (id: string) => {
    const [row] = await world.database.query<{ status: string }>(
      'SELECT status FROM organizations WHERE organization_id = $1',
      [id],
    );
    return row?.status;
  };

  it('neither suspends it again nor lets its sends go', async () => {
    const { id } = world.organization();
    const [suspended, reactivated] = [
      organizationChange(id, 'suspended', EARLIER),
      organizationChange(id, 'reactivated', LATER),
    ];
    await hear(suspended, reactivated);
    expect(await statusOf(id)).toBe('active');
    await hear(suspended);
    expect(await statusOf(id)).toBe('active');
    const again = organizationChange(id, 'suspended', '2026-01-05T09:00:00.002Z');
    await hear(again);
    await hear(reactivated);
    expect(await statusOf(id)).toBe('suspended');
  });

  it('counts by its time within one run, too', async () => {
    const { id } = world.organization();
    await hear(organizationChange(id, 'reactivated', LATER), organizationChange(id, 'suspended', EARLIER));
    expect(await statusOf(id)).toBe('active');
  });

  it('is taken where a release before has not noted the time', async () => {
    const { id } = world.organization();
    await world.database.query(`INSERT INTO organizations (organization_id, status) VALUES ($1, 'active')`, [
      id,
    ]);
    await hear(organizationChange(id, 'suspended', EARLIER));
    expect(await statusOf(id)).toBe('suspended');
  });
});

describe('a consent that is told again after a newer one', () => {
  const told = (organizationId: string, contact_id: string, status: 'granted' | 'withdrawn', time: string) =>
    at(
      time,
      domainEvent<Consented>('core.consent.recorded.v1', organizationId, {
        contact_id,
        purpose: 'marketing',
        channel: 'email',
        status,
        previous: null,
      }),
    );
  const hear = (...events: DomainEvent<Consented>[]) =>
    world.app.app.get(ContactProjection).consented(events);
  const statusOf = async (contactId: string) => {
    const [row] = await world.database.query<{ status: string }>(
      'SELECT status FROM consents WHERE contact_id = $1',
      [contactId],
    );
    return row?.status;
  };

  it.each([
    ['later', LATER],
    ['at the same instant', EARLIER],
  ])('lifts no withdrawal of %s', async (_, time) => {
    const { id } = world.organization();
    const contactId = newId();
    const granted = told(id, contactId, 'granted', EARLIER);
    await hear(granted);
    await hear(told(id, contactId, 'withdrawn', time));
    await hear(granted);
    expect(await statusOf(contactId)).toBe('withdrawn');
  });

  it('lifts no withdrawal of the same instant within one run', async () => {
    const { id } = world.organization();
    const contactId = newId();
    await hear(told(id, contactId, 'withdrawn', EARLIER), told(id, contactId, 'granted', EARLIER));
    expect(await statusOf(contactId)).toBe('withdrawn');
  });
});

describe('a contact that is told of again after a newer state', () => {
  const told = (organizationId: string, contact: ReturnType<typeof aContact>, version: number) =>
    domainEvent<ContactChanged>('core.contact.updated.v1', organizationId, {
      contact_id: contact.id,
      version,
      changed_fields: [],
      contact,
    });

  it('stays as it is', async () => {
    const { id } = world.organization();
    const contact = aContact();
    const projection = world.app.app.get(ContactProjection);
    const old = told(id, { ...contact, first_name: 'Old' }, 2);
    await projection.changed([old]);
    await projection.changed([told(id, { ...contact, first_name: 'New' }, 3)]);
    await projection.changed([old]);
    const rows = await world.database.query('SELECT first_name, version FROM contacts WHERE id = $1', [
      contact.id,
    ]);
    expect(rows).toMatchObject([{ first_name: 'New', version: '3' }]);
  });
});

describe('a device that is told of again after it was removed', () => {
  it('is not there for whoever is asked about next', async () => {
    const { id: organizationId } = world.organization();
    const contact = aContact();
    const projection = world.app.app.get(ContactProjection);
    await projection.changed([
      domainEvent<ContactChanged>('core.contact.created.v1', organizationId, {
        contact_id: contact.id,
        version: 1,
        changed_fields: [],
        contact,
      }),
    ]);
    const identity = { contact_id: contact.id, identity_id: newId(), type: 'custom.push_token' };
    const added = domainEvent<IdentityChange>('core.identity.added.v1', organizationId, {
      ...identity,
      push_token: { value: 'gone', seen_at: EARLIER },
    });
    const removed = domainEvent<IdentityChange>('core.identity.removed.v1', organizationId, identity);
    const devices = world.app.app.get(Devices);
    await devices.follow([added]);
    await devices.follow([removed]);
    await devices.follow([added]);
    expect(
      await world.database.query('SELECT token FROM push_tokens WHERE contact_id = $1', [contact.id]),
    ).toEqual([]);
  });
});

describe('a merge that is told of again', () => {
  const merge = (organizationId: string, survivor_id: string, merged_id: string) =>
    domainEvent<ContactsMerged>('core.contact.merged.v1', organizationId, {
      merge_id: newId(),
      survivor_id,
      merged_id,
      survivor_version: 2,
      merged_version: 2,
    });
  const set = (organizationId: string, contactId: string, subscribed: boolean) =>
    world.database.query(
      `INSERT INTO preferences (organization_id, subject, channel, topic, subscribed, updated_at)
       VALUES ($1, 'contact:' || $2::uuid, 'email', 'news', $3, clock_timestamp())
       ON CONFLICT (organization_id, subject, channel, topic)
       DO UPDATE SET subscribed = excluded.subscribed, updated_at = excluded.updated_at`,
      [organizationId, contactId, subscribed],
    );
  const of = async (contactId: string) => {
    const rows = await world.database.query<{ subscribed: boolean }>(
      `SELECT subscribed FROM preferences WHERE subject = 'contact:' || $1::uuid`,
      [contactId],
    );
    return rows.map(({ subscribed }) => subscribed);
  };

  it('leaves what the person has wanted since', async () => {
    const { id } = world.organization();
    const [survivor, merged] = [newId(), newId()];
    const projection = world.app.app.get(ContactProjection);
    await set(id, merged, false);
    const told = merge(id, survivor, merged);
    await projection.merged([told]);
    expect(await of(survivor)).toEqual([false]);
    await set(id, survivor, true);
    await projection.merged([told]);
    expect(await of(survivor)).toEqual([true]);
  });

  it('brings the survivor nothing that the other has declined since they parted', async () => {
    const { id } = world.organization();
    const [survivor, merged] = [newId(), newId()];
    const projection = world.app.app.get(ContactProjection);
    const told = merge(id, survivor, merged);
    await projection.merged([told]);
    const parted = domainEvent<ContactsMerged>('core.contact.unmerged.v1', id, {
      ...told.data,
      survivor_version: 3,
      merged_version: 3,
    });
    await projection.merged([parted]);
    await set(id, merged, false);
    await projection.merged([told]);
    expect(await of(survivor)).toEqual([]);
  });
});
