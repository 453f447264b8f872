import { randomUUID } from 'node:crypto';
import {
  anOrganization,
  domainEvent,
  expectTenantTablesListed,
  PlantedRows,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { CoreEventsConsumer } from './core-events.consumer.js';
import { startLoyalty } from './loyalty.fixture.js';
import { ORGANIZATION_IN_LOYALTY } from './organization-references.js';
import { SUBJECT_TABLES } from './subject-tables.js';
import { LOYALTY_TENANT_TABLES } from './tenant-tables.fixture.js';

let app: TestApp;
let database: TestDatabase;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty({ planted: true }));
});
afterAll(() => close());

describe('the tables of loyalty', () => {
  it('are each on the lists, with every column', () =>
    expectTenantTablesListed(database, {
      tables: LOYALTY_TENANT_TABLES,
      sources: import.meta.dirname,
      counted: ORGANIZATION_IN_LOYALTY,
      archived: SUBJECT_TABLES,
    }));

  it('keep nothing of an erased person in any column that is listed as erased', async () => {
    const { id: organizationId } = anOrganization();
    const [contactId, ref, entry] = [randomUUID(), randomUUID(), randomUUID()];
    const [merged, theirs] = [randomUUID(), { subject_ref: ref, transaction_id: entry }];
    const planted = await PlantedRows.of(database, {
      organizationId,
      contactId,
      tables: LOYALTY_TENANT_TABLES,
      rows: {
        contact_refs: { id: merged, state: 'merged', merged_into: contactId, version: 1 },
        subjects: { subject_ref: ref, origin_contact_id: merged },
        transactions: { id: entry, kind: 'adjust', subject_ref: ref, points: 7 },
        lines: { ...theirs, lot_id: entry, points: 7 },
        links: theirs,
        idempotency_keys: { body: JSON.stringify({ contact_id: contactId }) },
        parked_events: { key: contactId },
      },
    });
    const data = { subject_request_id: randomUUID(), contact_id: contactId };
    await app.app
      .get(CoreEventsConsumer)
      .erase([domainEvent('core.erasure.requested.v1', organizationId, data)]);
    expect(await planted.left()).toEqual([]);
  });
});
