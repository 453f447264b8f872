import { newId } from '@customer-platform/database';
import { domainEvent, expectStatus, expectTenantTablesListed, PlantedRows } from '@customer-platform/testing';
import { ContactRefsConsumer } from './contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from './crm.fixture.js';
import { OBJECTS, ObjectWorld } from './objects/objects.fixture.js';
import { ORGANIZATION_IN_CRM } from './organization-references.js';
import { SUBJECT_TABLES } from './subject-tables.js';
import { CRM_TENANT_TABLES } from './tenant-tables.fixture.js';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());

describe('the tables of crm', () => {
  it('are each on the lists, with every column', () =>
    expectTenantTablesListed(crm.database, {
      tables: CRM_TENANT_TABLES,
      sources: import.meta.dirname,
      counted: ORGANIZATION_IN_CRM,
      archived: SUBJECT_TABLES,
    }));

  it('keep nothing of an erased person in any column that is listed as erased', async () => {
    const world = new ObjectWorld(crm);
    const { organizationId } = world;
    const [contactId = ''] = await world.contacts(1);
    await recordsOf(world, contactId);
    const [typeId, listId] = [newId(), newId()];
    const there = ['object_claims', 'object_ids', 'object_numbers', 'object_records', 'object_references'];
    const planted = await PlantedRows.of(crm.database, {
      organizationId,
      contactId,
      tables: CRM_TENANT_TABLES,
      rows: {
        activity_types: { id: typeId, key: 'call' },
        activities: { type_id: typeId, status: 'completed' },
        lists: { id: listId },
        list_members: { list_id: listId },
        ...Object.fromEntries([...there, 'object_texts', 'object_times'].map((table) => [table, 'there'])),
        idempotency_keys: { body: JSON.stringify({ contact_id: contactId }) },
        parked_events: { key: contactId },
      },
    });
    await crm.app.app.get(ContactRefsConsumer).erase([
      domainEvent('core.erasure.requested.v1', organizationId, {
        subject_request_id: newId(),
        contact_id: contactId,
      }),
    ]);
    expect(await planted.left()).toEqual([]);
  });
});

/** Two records of the person, of which one refers to the other, with a value in every table beside them. */
async function recordsOf(world: ObjectWorld, contactId: string): Promise<void> {
  const owner = { key: 'owner', type: 'reference', target: 'contact', indexed: true };
  const vehicle = await world.define('vehicle', [
    owner,
    { key: 'plate', type: 'string', unique: true, indexed: true },
    { key: 'year', type: 'integer', indexed: true },
    { key: 'bought', type: 'datetime', indexed: true },
  ]);
  await world.define('policy', [owner, { key: 'of', type: 'reference', target: vehicle.id }]);
  const values = { owner: contactId, plate: 'AB-12', year: 1999, bought: '2026-02-03T04:05:06Z' };
  const { id } = await world.add('vehicle', values);
  const policy = await world.add('policy', { owner: contactId, of: id });
  expectStatus(await world.caller.delete(`${OBJECTS}/policy/${policy.id}`), 204);
}
