import { newId, type SubjectPage } from '@customer-platform/database';
import {
  anOrganization,
  contactChange,
  domainEvent,
  expectProblem,
  expectStatus,
  peerModule,
} from '@customer-platform/testing';
import { ContactRefsConsumer } from './contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from './crm.fixture.js';

const ROWS = '/internal/subject-rows';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());

it('gives core all rows of a person’s contacts, page by page, and nobody else anything', async () => {
  const { id: organizationId } = anOrganization();
  const caller = crm.app.as(organizationId, [
    'crm.notes.create',
    'crm.lists.create',
    'crm.lists.update',
    'crm.activity_types.create',
    'crm.activities.create',
  ]);
  const contacts = [newId(), newId()];
  for (const id of [...contacts, newId()])
    await crm.app.app
      .get(ContactRefsConsumer)
      .follow([domainEvent('core.contact.created.v1', organizationId, contactChange(id, 1))]);
  for (const contact_id of contacts)
    expectStatus(await caller.post('/v1/crm/notes', { contact_id, body: `Of ${contact_id}` }), 201);
  await crm.database.query(
    `INSERT INTO notes (organization_id, id, contact_id, origin_contact_id, body, pinned, author_type, author_id, created_at,
                        updated_at)
     SELECT $1, gen_random_uuid(), $2, $2, 'n', false, 'user', 'u', now() - n * interval '1 s', now()
       FROM generate_series(1, 700) AS n`,
    [organizationId, contacts[0]],
  );
  const core = await peerModule('core', 'crm', crm.app.internalUrl);
  const question = { organization_id: organizationId, contact_ids: contacts, portable: false };
  const rows: string[] = [];
  let after = {};
  for (let pages = 0; pages < 10; pages += 1) {
    const answer = await core.post<SubjectPage>(ROWS, { ...question, ...after });
    expectStatus(answer, 200);
    expect(answer.body.rows.length).toBeLessThanOrEqual(500);
    rows.push(...answer.body.rows);
    const { next } = answer.body;
    if (next === null) break;
    after = { after_resource: next.resource, after_contact_id: next.contact_id, after_place: next.place };
  }
  expect(rows).toHaveLength(702);
  const bodies = rows.map((row) => (JSON.parse(row) as { body: string }).body);
  for (const id of contacts) expect(bodies).toContain(`Of ${id}`);

  const empty = { resource: null, rows: [], next: null };
  const portable = await core.post(ROWS, { ...question, portable: true });
  expect(portable.body).toEqual(empty);
  const elsewhere = await core.post(ROWS, { ...question, organization_id: newId() });
  expect(elsewhere.body).toEqual(empty);
  expectProblem(await core.post(ROWS, { ...question, contact_ids: ['x'] }), 400, 'validation_failed');
  const messaging = await peerModule('messaging', 'crm', crm.app.internalUrl);
  expectProblem(await messaging.post(ROWS, question), 403, 'permission_denied');
});

it('reads each of its tables', async () => {
  const { id: organizationId } = anOrganization();
  const [contact, type, list, definition, record] = [newId(), newId(), newId(), newId(), newId()];
  await crm.database.query(
    `WITH types AS (
       INSERT INTO activity_types (organization_id, id, key, name, outcomes, outcome_required, fields, created_at, updated_at)
       VALUES ($1, $3, 'call', 'Call', '[]', false, '[]', now(), now())
     ), lists AS (
       INSERT INTO lists (organization_id, id, name, member_count, created_at, updated_at)
       VALUES ($1, $4, 'VIP', 1, now(), now())
     ), definitions AS (
       INSERT INTO object_definitions (organization_id, id, slug, name, fields, indexes, next_number, revision, created_at,
                                       updated_at)
       VALUES ($1, $5, 'vehicle', 'Vehicle', '[]', '[]', 1, 1, now(), now())
     ), records AS (
       INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
       VALUES ($1, $6, $5, '{"plate": "KLMN45"}', now(), now())
     ), refs AS (
       INSERT INTO object_references (organization_id, record_id, field, definition_id, contact_id, origin_contact_id)
       VALUES ($1, $6, 'driver', $5, $2, $2), ($1, $6, 'owner', $5, $2, $2)
     ), acts AS (
       INSERT INTO activities (organization_id, id, contact_id, origin_contact_id, type_id, subject, status, "values", author_type,
                               author_id, created_at, updated_at)
       VALUES ($1, gen_random_uuid(), $2, $2, $3, 'Asked', 'open', '{"a": 1}', 'user', 'u', now(), now())
     )
     INSERT INTO list_members (organization_id, list_id, origin_contact_id, contact_id, shown, added_at, added_by_type, added_by_id)
     VALUES ($1, $4, $2, $2, true, now(), 'user', 'u')`,
    [organizationId, contact, type, list, definition, record],
  );
  const core = await peerModule('core', 'crm', crm.app.internalUrl);
  const question = { organization_id: organizationId, contact_ids: [contact], portable: false };
  const first = await core.post<SubjectPage>(ROWS, question);
  expect(first.body).toMatchObject({ resource: 'activities', next: { resource: 'lists' } });
  expect(JSON.parse(first.body.rows[0] ?? '')).toMatchObject({
    type: 'Call',
    subject: 'Asked',
    values: { a: 1 },
  });
  const more = { after_resource: 'lists', after_contact_id: contact, after_place: [] };
  const second = await core.post<SubjectPage>(ROWS, { ...question, ...more });
  expect(second.body).toMatchObject({ resource: 'lists', next: { resource: 'objects' } });
  expect(second.body.rows[0]).toContain('"list":"VIP"');
  const third = await core.post<SubjectPage>(ROWS, { ...question, ...more, after_resource: 'objects' });
  expect(third.body).toMatchObject({ resource: 'objects', next: null });
  expect(third.body.rows).toHaveLength(1);
  expect(third.body.rows[0]).toContain('"object":"vehicle"');
});
