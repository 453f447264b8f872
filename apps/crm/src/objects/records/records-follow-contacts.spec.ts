import { Client } from 'pg';
import { Database, newId, type SubjectPage, type Transaction } from '@customer-platform/database';
import {
  contactChange,
  domainEvent,
  eventually,
  expectProblem,
  expectStatus,
  type KafkaProbe,
  kafkaProbe,
  peerModule,
} from '@customer-platform/testing';
import { ContactRefsConsumer } from '../../contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { holdDefinitions } from '../definitions/definition-locks.js';
import { ObjectWorld } from '../objects.fixture.js';
import { RecordsOfContacts } from './records-of-contacts.js';

let crm: TestCrm;
let probe: KafkaProbe;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm({ events: true });
  probe = kafkaProbe(crm.app);
  probe.collect('crm');
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
  world = new ObjectWorld(crm);
});

const OWNER = { key: 'owner', type: 'reference', target: 'contact', indexed: true };
const DRIVER = { key: 'driver', type: 'reference', target: 'contact', on_erasure: 'clear' };

/** What the tables beside the records hold of an organization. */
async function besides(organizationId: string): Promise<Record<string, number>> {
  const tables = ['object_records', 'object_ids', 'object_references', 'object_claims'];
  const counts = await Promise.all(
    tables.map((table) =>
      crm.database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1`,
        [organizationId],
      ),
    ),
  );
  return Object.fromEntries(tables.map((table, at) => [table, counts[at]?.[0]?.count ?? NaN]));
}

/** `work` meets the locks of another transaction, and waits for it to commit; `meanwhile` comes before that. */
async function beforeOthers<T>(
  first: (client: Client) => Promise<void>,
  work: () => Promise<T>,
  meanwhile = (): Promise<void> => Promise.resolve(),
): Promise<T> {
  const client = new Client({ connectionString: crm.database.adminUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await first(client);
    const working = work();
    await eventually(async () => {
      const waiting = await crm.database.query(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`,
      );
      expect(waiting.length).toBeGreaterThan(0);
    });
    await meanwhile();
    await client.query('COMMIT');
    return await working;
  } finally {
    await client.end();
  }
}

describe('a reference to a contact', () => {
  it('is taken of an active contact, as the survivor of a merged one, and asked of core where unknown', async () => {
    const [survivor = '', merged = ''] = await world.contacts(2);
    await world.merge(survivor, merged);
    await world.define('vehicle', [OWNER]);
    expect((await world.add('vehicle', { owner: survivor.toUpperCase() })).values).toEqual({
      owner: survivor,
    });
    expect((await world.add('vehicle', { owner: merged })).values).toEqual({ owner: survivor });
    const unknown = crm.aContact(world.organizationId);
    expect((await world.add('vehicle', { owner: unknown.id })).values).toEqual({ owner: unknown.id });
    expect(await world.column('vehicle', 'owner', `?values.owner=${merged}`)).toEqual([survivor, survivor]);
    expect(await world.column('vehicle', 'owner', `?values.owner=${newId()}`)).toEqual([]);
  });

  it('422 for one that is nobody’s or soft-deleted, 503 while core is silent', async () => {
    await world.define('vehicle', [OWNER, DRIVER]);
    const answer = await world.post('vehicle', { owner: newId(), driver: newId() });
    const problem = expectProblem(answer, 422, 'reference_not_found');
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(['/values/owner', '/values/driver']);
    const deleted = crm.aContact(world.organizationId, { state: 'deleted' });
    expectProblem(await world.post('vehicle', { owner: deleted.id }), 422, 'reference_deleted');
    crm.modules.lookup = { status: 500 };
    expectProblem(await world.post('vehicle', { owner: newId() }), 503, 'dependency_unavailable');
    expect(await besides(world.organizationId)).toMatchObject({ object_records: 0, object_references: 0 });
  });

  it('stays editable beside a contact that is soft-deleted by now', async () => {
    const [owner = ''] = await world.contacts(1);
    await world.define('vehicle', [OWNER, { key: 'year', type: 'integer' }]);
    const record = await world.add('vehicle', { owner });
    const gone = domainEvent('core.contact.deleted.v1', world.organizationId, contactChange(owner, 9));
    await crm.app.app.get(ContactRefsConsumer).follow([gone]);
    expectStatus(await world.patch('vehicle', record, { owner, year: 1 }), 200);
    expectProblem(await world.post('vehicle', { owner }), 422, 'reference_deleted');
  });

  it('follows merges and their undo, in values, index, references and ETag', async () => {
    const [survivor = '', merged = ''] = await world.contacts(2);
    await world.define('vehicle', [OWNER, DRIVER]);
    const own = await world.add('vehicle', { owner: survivor });
    const moved = await world.add('vehicle', { owner: merged, driver: merged });
    await world.merge(survivor, merged);
    const after = await world.get('vehicle', moved);
    expect(after.body).toMatchObject({ id: moved.id, values: { owner: survivor, driver: survivor } });
    const found = `?values.owner=${survivor}`;
    expect((await world.list('vehicle', found)).map(({ id }) => id)).toEqual([moved.id, own.id]);
    await world.merge(survivor, merged, 'unmerged');
    const undone = await world.get('vehicle', moved);
    expect(undone.body.values).toEqual(moved.values);
    const times = [moved, after.body, undone.body].map(({ updated_at: at }) => at);
    expect(times).toEqual([...new Set(times)].sort());
    expect((await world.get('vehicle', own)).body).toEqual(own);
    expect((await world.list('vehicle', found)).map(({ id }) => id)).toEqual([own.id]);
    expect((await world.list('vehicle', `?values.owner=${merged}`)).map(({ id }) => id)).toEqual([moved.id]);
  });

  it('is counted before a purge, each record once, soft-deleted ones too', async () => {
    const [owner = ''] = await world.contacts(1);
    await world.define('vehicle', [OWNER, DRIVER]);
    await world.add('vehicle', { owner, driver: owner });
    expectStatus(await world.delete('vehicle', await world.add('vehicle', { driver: owner })), 204);
    const core = await peerModule('core', 'crm', crm.app.internalUrl);
    const question = { organization_id: world.organizationId, resource: 'core.contacts', id: owner };
    const answer = await core.post<{ references: object[] }>('/internal/references', {
      ...question,
      hold_id: newId(),
      hold_ms: 1_000,
    });
    expect(answer.body.references).toContainEqual({ module: 'crm', resource: 'objects', count: 2 });
  });
});

describe('an erasure', () => {
  it('deletes and clears records by on_erasure, and takes what refers to deleted ones, required or not', async () => {
    const [person = '', other = ''] = await world.contacts(2);
    const vehicle = await world.define('vehicle', [
      OWNER,
      DRIVER,
      { key: 'plate', type: 'string', unique: true },
    ]);
    await world.define('policy', [
      { key: 'of', type: 'reference', target: vehicle.id, required: true, indexed: true },
    ]);
    const deleted = await world.add('vehicle', { owner: person, driver: other, plate: 'A' });
    const alsoDeleted = await world.add('vehicle', { owner: person, driver: person });
    expectStatus(await world.delete('vehicle', alsoDeleted), 204);
    const cleared = await world.add('vehicle', { owner: other, driver: person, plate: 'B' });
    const policy = await world.add('policy', { of: deleted.id });
    await world.end(person, 'erased');
    expectProblem(await world.get('vehicle', deleted), 404, 'not_found');
    expectProblem(await world.get('vehicle', alsoDeleted), 404, 'not_found');
    expect((await world.get('vehicle', cleared)).body.values).toEqual({
      owner: other,
      driver: null,
      plate: 'B',
    });
    expect((await world.get('policy', policy)).body.values).toEqual({ of: null });
    expect(await world.list('policy', '?values.of[is_null]=true')).toHaveLength(1);
    expect((await world.definition(vehicle)).record_count).toBe(1);
    for (const each of [cleared, policy])
      expect(
        (await world.get(each === policy ? 'policy' : 'vehicle', each)).body.updated_at > each.updated_at,
      ).toBe(true);
    const told = await probe.expectEvents('crm.object.purged.v1', world.organizationId, 2);
    expect(told.map(({ data }) => data.id).sort()).toEqual([deleted.id, alsoDeleted.id].sort());
    const changes = probe
      .events('crm.object.updated.v1', world.organizationId)
      .map(({ data }) => [data.id, data.slug, data.changed]);
    expect(changes).toEqual(
      expect.arrayContaining([
        [cleared.id, 'vehicle', ['values.driver']],
        [policy.id, 'policy', ['values.of']],
      ]),
    );
    expect(await besides(world.organizationId)).toEqual({
      ...{ object_records: 2, object_ids: 2, object_references: 1, object_claims: 1 },
    });
    await world.add('vehicle', { plate: 'A' });
    const problem = expectProblem(await world.redefine(vehicle, { fields: [] }), 409, 'field_in_use');
    expect(problem).toMatchObject({ field: 'owner', count: 1 });
  });

  it('leaves a record that refers to somebody else by the time it is locked', async () => {
    const [person = '', other = ''] = await world.contacts(2);
    await world.define('vehicle', [OWNER, DRIVER]);
    const record = await world.add('vehicle', { owner: person, driver: person });
    const values = JSON.stringify({ owner: other, driver: other });
    const key = [world.organizationId, record.id];
    await beforeOthers(
      async (client) => {
        await client.query('UPDATE object_records SET "values" = $3 WHERE organization_id = $1 AND id = $2', [
          ...key,
          values,
        ]);
        await client.query(
          'UPDATE object_references SET contact_id = $3, origin_contact_id = $3 WHERE organization_id = $1 AND record_id = $2',
          [...key, other],
        );
      },
      () => world.end(person, 'erased'),
    );
    expect((await world.get('vehicle', record)).body.values).toMatchObject({ owner: other, driver: other });
  });

  it('leaves a record that refers to somebody else as soon as it was looked for', async () => {
    const [person = '', other = ''] = await world.contacts(2);
    await world.define('vehicle', [OWNER]);
    const record = await world.add('vehicle', { owner: person });
    const { app } = crm.app;
    const rows = app.get(RecordsOfContacts);
    await crm.database.query(
      `UPDATE contact_refs SET state = 'erased' WHERE organization_id = $1 AND id = $2`,
      [world.organizationId, person],
    );
    await app.get(Database).inOrganization(world, async (tx) => {
      let looked = false;
      const query = async (sql: string, values: unknown[]): Promise<unknown> => {
        const found = await tx.query(sql, values);
        if (!sql.includes('LATERAL') || !sql.includes('object_references')) return found;
        if (!looked) expectStatus(await world.patch('vehicle', record, { owner: other }), 200);
        looked = true;
        return found;
      };
      await rows.settle(Object.create(tx, { query: { value: query } }) as Transaction, [person]);
      expect(looked).toBe(true);
    });
    expect((await world.get('vehicle', record)).body.values).toEqual({ owner: other });
  });

  it('is not held up, nor holds up others, by that in another organization', async () => {
    const worlds = [world, new ObjectWorld(crm)];
    worlds.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
    const ends: Parameters<ContactRefsConsumer['follow']>[0] = [];
    const records: { id: string }[] = [];
    for (const each of worlds) {
      const [person = ''] = await each.contacts(1);
      await each.define('vehicle', [OWNER]);
      records.push(await each.add('vehicle', { owner: person }));
      const end = { contact_id: person, version: 2, changed_fields: [], contact: null };
      ends.push(domainEvent('core.contact.erased.v1', each.organizationId, end));
    }
    const [[own, held], [record = { id: '' }, last = { id: '' }]] = [worlds, records];
    await beforeOthers(
      (client) =>
        holdDefinitions({
          organizationId: held?.organizationId ?? '',
          query: async (sql: string, values: unknown[]) => (await client.query(sql, values)).rows,
        } as Transaction),
      () => crm.app.app.get(ContactRefsConsumer).follow(ends),
      async () => {
        expect((await own?.get('vehicle', record))?.status).toBe(404);
        expect((await own?.post('vehicle', {}))?.status).toBe(201);
        expect((await held?.get('vehicle', last))?.status).toBe(200);
      },
    );
    expect((await held?.get('vehicle', last))?.status).toBe(404);
  });

  it('of a merged family takes what was moved, and counts it in the receipt', async () => {
    const [survivor = '', merged = ''] = await world.contacts(2);
    await world.define('vehicle', [OWNER]);
    await world.add('vehicle', { owner: merged });
    await world.merge(survivor, merged);
    const request = { subject_request_id: newId(), contact_id: survivor };
    await crm.app.app
      .get(ContactRefsConsumer)
      .erase([domainEvent('core.erasure.requested.v1', world.organizationId, request)]);
    expect(await besides(world.organizationId)).toMatchObject({ object_records: 0, object_references: 0 });
    const [completed] = await probe.expectEvents('crm.erasure.completed.v1', world.organizationId, 1);
    expect(completed?.data).toMatchObject({ counts: { objects: 1 } });
  });
});

describe('GET of a person’s rows', () => {
  it('gives each record once, with what it holds', async () => {
    const [person = ''] = await world.contacts(1);
    await world.define('vehicle', [OWNER, DRIVER, { key: 'plate', type: 'string' }]);
    const record = await world.add('vehicle', { owner: person, driver: person, plate: 'KLMN45' });
    await world.add('vehicle', { plate: 'X' });
    const core = await peerModule('core', 'crm', crm.app.internalUrl);
    const question = { organization_id: world.organizationId, contact_ids: [person], portable: false };
    const { body } = await core.post<SubjectPage>('/internal/subject-rows', question);
    expect(body.resource).toBe('objects');
    expect(body.rows.map((row) => JSON.parse(row) as object)).toEqual([
      expect.objectContaining({
        id: record.id,
        object: 'vehicle',
        values: { owner: person, driver: person, plate: 'KLMN45' },
      }),
    ]);
  });
});

describe('a reference to a record', () => {
  it('422 for a record that is not there, of another object, or soft-deleted', async () => {
    const vehicle = await world.define('vehicle');
    await world.define('policy', [{ key: 'of', type: 'reference', target: vehicle.id }]);
    const record = await world.add('vehicle', {});
    const policy = await world.add('policy', { of: record.id });
    for (const id of [newId(), policy.id]) {
      const problem = expectProblem(await world.post('policy', { of: id }), 422, 'reference_not_found');
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/values/of' })]);
    }
    expectStatus(await world.delete('vehicle', record), 204);
    expectProblem(await world.post('policy', { of: record.id }), 422, 'reference_deleted');
    // What is referred to already stays as it is.
    expectStatus(await world.patch('policy', policy, { of: record.id }), 200);
    const held = expectProblem(await world.delete('vehicle', record, '/purge'), 409, 'resource_referenced');
    expect(held['references']).toEqual([{ module: 'crm', resource: 'objects', count: 1 }]);
    expectStatus(await world.patch('policy', policy, { of: null }), 200);
    expectStatus(await world.delete('vehicle', record, '/purge'), 204);
  });

  it('may lead back to where it began', async () => {
    const person = await world.define('person');
    const fields = [{ key: 'boss', type: 'reference', target: person.id }];
    expectStatus(await world.redefine(person, { fields }), 200);
    const [first, second] = [await world.add('person', {}), await world.add('person', {})];
    for (const [record, boss] of [
      [first, second.id],
      [second, first.id],
      [first, first.id],
    ] as const)
      expectStatus(await world.patch('person', record, { boss }), 200);
    expectStatus(await world.delete('person', first), 204);
    expectProblem(await world.delete('person', first, '/purge'), 409, 'resource_referenced');
    expectStatus(await world.patch('person', second, { boss: null }), 200);
    expectStatus(await world.delete('person', first, '/purge'), 204);
  });

  it('422 for a record that is being purged as it is referred to', async () => {
    const vehicle = await world.define('vehicle');
    await world.define('policy', [{ key: 'of', type: 'reference', target: vehicle.id }]);
    const policy = await world.add('policy', {});
    const writes = [
      (values: object) => world.post('policy', { ...values }),
      (values: object) => world.patch('policy', policy, { ...values }),
    ];
    for (const write of writes) {
      const going = await world.add('vehicle', {});
      const purge = 'DELETE FROM object_records WHERE organization_id = $1 AND id = $2';
      const refused = beforeOthers(
        async (client) => void (await client.query(purge, [world.organizationId, going.id])),
        () => write({ of: going.id }),
      );
      expectProblem(await refused, 422, 'reference_not_found');
    }
  });

  it('never outlives a purge that races it', async () => {
    const vehicle = await world.define('vehicle');
    await world.define('policy', [{ key: 'of', type: 'reference', target: vehicle.id }]);
    for (let round = 0; round < 5; round += 1) {
      const record = await world.add('vehicle', {});
      const policy = world.post('policy', { of: record.id });
      const removal = world.delete('vehicle', record).then(() => world.delete('vehicle', record, '/purge'));
      const [written, purged] = await Promise.all([policy, removal]);
      expect([201, 422]).toContain(written.status);
      expect(purged.status).toBe(written.status === 201 ? 409 : 204);
    }
  });
});

it('keeps merges and writes of the same records apart', async () => {
  const contacts = await world.contacts(4);
  const [survivor = '', ...others] = contacts;
  await world.define('vehicle', [OWNER, { key: 'year', type: 'integer', indexed: true }]);
  const records = await Promise.all(contacts.map((owner) => world.add('vehicle', { owner, year: 0 })));
  const writes = records.flatMap((record, at) =>
    [1, 2, 3].map((year) => world.patch('vehicle', record, { year, owner: contacts[(at + year) % 4] })),
  );
  const merges = others.map((merged) => world.merge(survivor, merged));
  const answers = await Promise.all(writes);
  await Promise.all(merges);
  expect(answers.map(({ status }) => status).every((status) => status === 200 || status === 503)).toBe(true);
  const shown = await world.list('vehicle');
  expect(shown.map(({ values }) => values['owner'])).toEqual(Array(4).fill(survivor));
  expect(await world.list('vehicle', `?values.owner=${survivor}`)).toEqual(shown);
});
