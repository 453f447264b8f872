import { newId, type SubjectPage } from '@customer-platform/database';
import { domainEvent, expectProblem, expectStatus, peerModule } from '@customer-platform/testing';
import { ContactRefsConsumer } from '../../contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { OWNED, seedRecords } from '../many-records.fixture.js';
import { ObjectWorld } from '../objects.fixture.js';
import { ContactRecordsJob } from './contact-records.job.js';

/** More than three pieces, the last one short. */
const RECORDS = 1_700;

let crm: TestCrm;
let world: ObjectWorld;
let job: ContactRecordsJob;
beforeAll(async () => {
  crm = await startCrm();
  job = crm.app.app.get(ContactRecordsJob);
});
afterAll(() => crm.close());
beforeEach(() => {
  world = new ObjectWorld(crm);
});

/** Somebody with many records, and somebody without. */
async function owner(): Promise<{ vehicle: { id: string }; person: string; other: string }> {
  const [person = '', other = ''] = await world.contacts(2);
  const vehicle = await world.define('vehicle', OWNED);
  await seedRecords(world, vehicle, person, RECORDS);
  return { vehicle, person, other };
}

/** By contact, the records whose value, reference and index row all name it; those that disagree are nobody's. */
async function recordsOf(...contactIds: string[]): Promise<number[]> {
  const rows = await crm.database.query<{ owner: string; count: number }>(
    `SELECT record."values"->>'owner' AS owner, count(*)::int AS count
       FROM object_records AS record
       JOIN object_references AS own ON own.organization_id = record.organization_id AND own.record_id = record.id
        AND own.contact_id::text = record."values"->>'owner'
       JOIN object_ids AS found ON found.organization_id = record.organization_id AND found.record_id = record.id
        AND found.value = own.contact_id
      WHERE record.organization_id = $1 GROUP BY 1`,
    [world.organizationId],
  );
  return contactIds.map((id) => rows.find((row) => row.owner === id)?.count ?? 0);
}

/** Pieces until nothing is left, of what these tests began. */
async function finish(): Promise<void> {
  await job.runAll();
  expect(await left()).toEqual([]);
}

const left = (): Promise<unknown[]> =>
  crm.database.query('SELECT contact_id FROM contact_record_jobs WHERE organization_id = $1', [
    world.organizationId,
  ]);

async function erase(contactId: string, requestId = newId()): Promise<string> {
  const data = { subject_request_id: requestId, contact_id: contactId };
  await crm.app.app
    .get(ContactRefsConsumer)
    .erase([domainEvent('core.erasure.requested.v1', world.organizationId, data)]);
  return requestId;
}

/** What receipts say, and how often crm told of one. */
async function receipts(): Promise<{ counts: number[]; told: number }> {
  const counts = await crm.database.query<{ count: number }>(
    `SELECT (counts->>'objects')::int AS count FROM erasure_receipts WHERE organization_id = $1 ORDER BY completed_at`,
    [world.organizationId],
  );
  const rows = await crm.database.query<{ messages: [string, string][] }>(
    'SELECT messages FROM outbox WHERE organization_id = $1',
    [world.organizationId],
  );
  const types = rows.flatMap(({ messages }) =>
    messages.map(([, value]) => (JSON.parse(value) as { type: string }).type),
  );
  return {
    counts: counts.map(({ count }) => count),
    told: types.filter((type) => type === 'crm.erasure.completed.v1').length,
  };
}

describe('a merge of somebody with many records', () => {
  it('gives them in pieces; filters find all, archives wait, a purge counts all', async () => {
    const { person, other } = await owner();
    await world.merge(other, person);
    const [before = 0, given = 0] = await recordsOf(person, other);
    expect({ sum: before + given, begun: given > 0, over: before === 0 }).toEqual({
      ...{ sum: RECORDS, begun: true, over: false },
    });
    const seen = new Set<string>();
    let cursor = '';
    do {
      const path = `/v1/crm/objects/vehicle?values.owner=${other}&limit=200${cursor}`;
      const { body } = await world.caller.get<{
        data: { id: string }[];
        page: { next_cursor: string | null };
      }>(path);
      for (const { id } of body.data) seen.add(id);
      cursor = body.page.next_cursor === null ? '' : `&cursor=${body.page.next_cursor}`;
    } while (cursor !== '');
    expect(seen.size).toBe(RECORDS);
    const core = await peerModule('core', 'crm', crm.app.internalUrl);
    const question = { organization_id: world.organizationId, contact_ids: [other], portable: false };
    expectProblem(await core.post('/internal/subject-rows', question), 503, 'dependency_unavailable');
    const hold = { organization_id: world.organizationId, resource: 'core.contacts', id: other };
    const { body } = await core.post<{ references: object[] }>('/internal/references', {
      ...{ ...hold, hold_id: newId(), hold_ms: 1_000 },
    });
    expect(body.references).toContainEqual({ module: 'crm', resource: 'objects', count: RECORDS });
    await finish();
    expect(await recordsOf(person, other)).toEqual([0, RECORDS]);
    expectStatus(await core.post<SubjectPage>('/internal/subject-rows', question), 200);
  });

  it('undone in the middle, and merged into somebody else: each record ends where its merges do', async () => {
    const { person, other } = await owner();
    const [third = ''] = await world.contacts(1);
    await world.merge(other, person);
    await job.runNext();
    await world.merge(other, person, 'unmerged');
    await job.runNext();
    await world.merge(third, person);
    await finish();
    expect(await recordsOf(person, other, third)).toEqual([0, 0, RECORDS]);
    await world.merge(third, person, 'unmerged');
    await finish();
    expect(await recordsOf(person, other, third)).toEqual([RECORDS, 0, 0]);
  });

  it('whose survivor is merged in the middle: all come to the end of the chain', async () => {
    const { person, other } = await owner();
    const [third = ''] = await world.contacts(1);
    await world.merge(other, person);
    await world.merge(third, other);
    await finish();
    expect(await recordsOf(person, other, third)).toEqual([0, 0, RECORDS]);
  });

  it('goes on where a process died that had not committed its piece', async () => {
    const { person, other } = await owner();
    await world.merge(other, person);
    await crm.database.query(
      `CREATE FUNCTION fail_a_piece() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'died' USING ERRCODE = '57P01'; END $$`,
    );
    await crm.database.query(
      `CREATE TRIGGER fail_a_piece BEFORE UPDATE OR DELETE ON contact_record_jobs
         FOR EACH ROW EXECUTE FUNCTION fail_a_piece()`,
    );
    const before = await recordsOf(person, other);
    await expect(job.runNext()).rejects.toThrow();
    await crm.database.query('DROP TRIGGER fail_a_piece ON contact_record_jobs');
    await crm.database.query('DROP FUNCTION fail_a_piece');
    expect(await recordsOf(person, other)).toEqual(before);
    const another = (await crm.beside()).app.get(ContactRecordsJob);
    await another.runAll();
    expect(await recordsOf(person, other)).toEqual([0, RECORDS]);
  });

  it('beside two processes at once gives each record once', async () => {
    const { person, other } = await owner();
    const another = (await crm.beside()).app.get(ContactRecordsJob);
    await world.merge(other, person);
    await Promise.all([job.runAll(), another.runAll()]);
    await finish();
    expect(await recordsOf(person, other)).toEqual([0, RECORDS]);
  });
});

describe('an erasure of somebody with many records', () => {
  it('removes them in pieces, and tells the receipt with the last, with all counted', async () => {
    const { vehicle, person } = await owner();
    const requestId = await erase(person);
    const [some = 0] = await recordsOf(person);
    expect({ begun: some < RECORDS, over: some === 0 }).toEqual({ begun: true, over: false });
    expect(await receipts()).toEqual({ counts: [], told: 0 });
    // Asked again it goes on, and is told of once.
    await erase(person, requestId);
    expect(await receipts()).toEqual({ counts: [], told: 0 });
    await finish();
    expect(await recordsOf(person)).toEqual([0]);
    expect(await receipts()).toEqual({ counts: [RECORDS], told: 1 });
    expect(
      await crm.database.query('SELECT FROM contact_erasures WHERE organization_id = $1', [
        world.organizationId,
      ]),
    ).toEqual([]);
    expect((await world.definition(vehicle)).record_count).toBe(0);
    await erase(person, requestId);
    expect(await receipts()).toEqual({ counts: [RECORDS], told: 2 });
  });

  it('in the middle of a merge takes what has moved and what has not, each counted once', async () => {
    const { person, other } = await owner();
    const both = await world.define('both', [
      OWNED[0] ?? {},
      { key: 'driver', type: 'reference', target: 'contact' },
    ]);
    await world.add(both.slug, { owner: person, driver: other });
    await world.merge(other, person);
    await job.runNext();
    await erase(other);
    await finish();
    expect(await recordsOf(person, other)).toEqual([0, 0]);
    expect(await receipts()).toEqual({ counts: [RECORDS + 1], told: 1 });
  });

  it('in the middle of an undo waits for what comes back, and counts it', async () => {
    const { person, other } = await owner();
    await world.merge(other, person);
    await finish();
    await world.merge(other, person, 'unmerged');
    await erase(person);
    expect(await receipts()).toEqual({ counts: [], told: 0 });
    await finish();
    expect(await recordsOf(person, other)).toEqual([0, 0]);
    expect(await receipts()).toEqual({ counts: [RECORDS], told: 1 });
  });

  it('of two requests for one person counts each record in one of the two', async () => {
    const { person } = await owner();
    await erase(person);
    await erase(person);
    await finish();
    const { counts, told } = await receipts();
    expect({ sum: counts.reduce((sum, count) => sum + count, 0), told }).toEqual({ sum: RECORDS, told: 2 });
  });

  it('of two people whose records stand under a third counts for each their own', async () => {
    const { person, other } = await owner();
    const [second = ''] = await world.contacts(1);
    for (let count = 0; count < 3; count += 1) await world.add('vehicle', { owner: second });
    await world.merge(other, person);
    await world.merge(other, second);
    await finish();
    for (const id of [person, second]) await erase(id);
    await finish();
    expect(await recordsOf(person, second, other)).toEqual([0, 0, 0]);
    const { counts, told } = await receipts();
    expect({ counts: counts.sort((a, b) => a - b), told }).toEqual({ counts: [3, RECORDS], told: 2 });
  });

  it('clears so many records that refer to one that goes, before it goes', async () => {
    const [person = '', other = ''] = await world.contacts(2);
    const vehicle = await world.define('vehicle', OWNED);
    const policy = await world.define('policy', [
      ...OWNED,
      { key: 'of', type: 'reference', target: vehicle.id, required: false },
    ]);
    const record = await world.add('vehicle', { owner: person });
    await seedRecords(world, policy, other, RECORDS);
    await crm.database.query(
      `UPDATE object_records SET "values" = "values" || jsonb_build_object('of', $3::text)
        WHERE organization_id = $1 AND definition_id = $2`,
      [world.organizationId, policy.id, record.id],
    );
    await crm.database.query(
      `INSERT INTO object_references (organization_id, record_id, field, definition_id, target_id)
       SELECT $1, id, 'of', $2, $3 FROM object_records WHERE organization_id = $1 AND definition_id = $2`,
      [world.organizationId, policy.id, record.id],
    );
    await erase(person);
    expect((await world.get('vehicle', record)).status).toBe(200);
    await finish();
    expectProblem(await world.get('vehicle', record), 404, 'not_found');
    const naming = `SELECT FROM object_records WHERE organization_id = $1 AND "values"->>'of' IS NOT NULL`;
    expect(await crm.database.query(naming, [world.organizationId])).toEqual([]);
    expect(await recordsOf(other)).toEqual([RECORDS]);
    expect(await receipts()).toEqual({ counts: [1], told: 1 });
  });
});

describe('writers beside pieces', () => {
  it('a record that names the survivor, or is changed, in between is kept as it was written', async () => {
    const { person, other } = await owner();
    await world.merge(other, person);
    const [record = { id: '' }] = await world.list('vehicle', `?values.owner=${person}&limit=1`);
    expectStatus(await world.patch('vehicle', record, { owner: null }), 200);
    const added = await world.add('vehicle', { owner: person });
    expect(added.values).toMatchObject({ owner: other });
    await finish();
    expect(await recordsOf(person, other)).toEqual([0, RECORDS]);
    expect((await world.get('vehicle', record)).body.values).toMatchObject({ owner: null });
  });
});
