import { Database, newId, ReferenceHolds } from '@customer-platform/database';
import { expectStatus, expectTenantTablesListed, PlantedRows, type Caller } from '@customer-platform/testing';
import { START_MS } from './core.fixture.js';
import { ORGANIZATION_IN_CORE } from './organization-references.js';
import { LETTERS, SUBJECT_TABLES } from './subject-requests/archive/subject-tables.js';
import { ErasureWorld } from './subject-requests/subject-request.fixture.js';
import { CORE_TENANT_TABLES } from './tenant-tables.fixture.js';

/** So late that no job takes the row up before it is erased. */
const LATER = '2999-01-01T00:00:00Z';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('the tables of core', () => {
  it('are each on the lists, with every column', () =>
    expectTenantTablesListed(world.contacts.core.database, {
      tables: CORE_TENANT_TABLES,
      sources: import.meta.dirname,
      counted: ORGANIZATION_IN_CORE,
      archived: [...SUBJECT_TABLES, LETTERS],
    }));

  it('keep nothing of an erased person in any column that is listed as erased', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const segment = await aSegment(caller);
    const contactId = newId();
    const other = await anotherContact(organizationId);
    const [importId, archiveId] = [newId(), newId()];
    const [first, second] = [contactId, other].sort();
    const planted = await PlantedRows.of(world.contacts.core.database, {
      organizationId,
      contactId,
      tables: CORE_TENANT_TABLES,
      rows: {
        contacts: { id: contactId },
        contact_words: 'there',
        consent_events: { status: 'denied' },
        consent_expirations: { expires_at: LATER },
        contact_merges: { survivor_id: contactId, merged_id: other, status: 'merged' },
        merge_suggestions: { first_id: first, second_id: second, state: 'open' },
        events: { type: 'track' },
        dead_letters: { type: 'track', stage: 'store', state: 'closed' },
        imports: { id: importId, state: 'completed', errors: 1 },
        import_errors: { import_id: importId, code: 'unknown_field', value: 'planted-email_normal' },
        segment_changes: { not_before: LATER },
        segment_dues: { due_at: LATER },
        segment_matches: { condition_id: segment.conditionId },
        segment_members: { segment_id: segment.id },
        subject_requests: { id: archiveId, type: 'access', state: 'completed' },
        subject_archives: { subject_request_id: archiveId, step: 'ready' },
        subject_archive_pieces: { subject_request_id: archiveId, part: 'rows' },
        idempotency_keys: { body: JSON.stringify({ id: contactId }) },
        parked_events: { key: contactId },
      },
    });
    expect(await keeping(organizationId)).toEqual(
      expect.arrayContaining(['contacts', 'consents', 'events', 'imports', 'subject_requests']),
    );
    await world.doneByCore(caller, await world.erase(caller, { contact_id: contactId }));
    expect(await planted.left()).toEqual([]);
  });
});

/** What identity is told, when the organization is to be purged. */
async function keeping(organizationId: string): Promise<string[]> {
  const { app } = world.contacts.core.app;
  const holds = app.get(ReferenceHolds, { strict: false });
  const references = await app
    .get(Database, { strict: false })
    .inOrganization({ organizationId }, (tx) => holds.count(tx, 'identity.organizations', organizationId));
  return references.filter(({ count }) => count > 0).map(({ resource }) => resource);
}

/** Nobody is in it; what it asks for is counted. */
async function aSegment(caller: Caller): Promise<{ id: string; conditionId: string }> {
  const rule = { event: 'paid', count: { op: 'gte', value: 1 } };
  const answer = await caller.post<{ id: string }>('/v1/core/segments', { name: 'Paid', rule });
  expectStatus(answer, 201);
  const { id } = answer.body;
  const [use] = await world.contacts.query(
    'SELECT condition_id FROM segment_condition_uses WHERE segment_id = $1',
    [id],
  );
  return { id, conditionId: String(use?.['condition_id']) };
}

/** Of whom nothing is known: none of what stands of the person can be theirs. */
async function anotherContact(organizationId: string): Promise<string> {
  const id = newId();
  await world.contacts.query(`INSERT INTO contacts (organization_id, id, source) VALUES ($1, $2, 'api')`, [
    organizationId,
    id,
  ]);
  return id;
}
