import { newId } from '@customer-platform/database';
import {
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  searchEverything,
  type Caller,
} from '@customer-platform/testing';
import { at } from '../../people/contacts/contact.fixture.js';
import { START_MS } from '../../core.fixture.js';
import { ErasureWorld, REQUESTS, VERIFICATION } from '../subject-request.fixture.js';
import { archiveOf, ask, askedIn, remembered, rowsIn, ZIP } from './archive.fixture.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());
afterEach(() => world.rows.clear());

const database = () => world.contacts.core.database;
const asked = (caller: Caller, body: Record<string, unknown>) => askedIn(world, caller, body);

describe('an archive that is broken off', () => {
  it('goes on, whatever failed, and holds each row once', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    await remembered(world, organizationId, id, 1_200);
    const when = `NEW.organization_id = '${organizationId}'`;
    const faults = await Promise.all([
      DatabaseFault.in(database(), {
        table: 'subject_archive_pieces',
        on: 'INSERT',
        when: `${when} AND NEW.part = 'rows' AND NEW.seq = 2`,
        times: 1,
      }),
      DatabaseFault.in(database(), {
        table: 'subject_archive_pieces',
        on: 'INSERT',
        when: `${when} AND NEW.part = 'file'`,
        times: 1,
      }),
      DatabaseFault.in(database(), {
        table: 'subject_archives',
        on: 'UPDATE',
        when: `${when} AND NEW.step = 'ready'`,
        times: 1,
      }),
      DatabaseFault.in(database(), {
        table: 'subject_requests',
        on: 'UPDATE',
        when: `${when} AND NEW.state = 'completed'`,
        times: 1,
      }),
    ]);
    world.contacts.peers.loyalty.outage(true);
    const request = await ask(caller, { contact_id: id });
    await eventually(async () => {
      const [row] = await database().query<{ module: string }>(
        'SELECT module FROM subject_archives WHERE subject_request_id = $1',
        [request.id],
      );
      expect(row?.module).toBe('loyalty');
    });
    world.contacts.peers.loyalty.outage(false);
    const done = await world.inState(caller, request, 'completed');
    for (const fault of faults) expect(await fault.tries()).toBeGreaterThan(1);
    await Promise.all(faults.map((fault) => fault.mend()));
    const events = rowsIn((await archiveOf(caller, done)).files, 'core/events');
    expect(new Set(events.map((event) => event['id'])).size).toBe(1_200);
    expect(events).toHaveLength(1_200);
  }, 120_000);

  it('is written anew by another once whoever was killed has held it for its time', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    // Of a process that is gone: it held the archive, and had written half of the file.
    const killed = await DatabaseFault.in(database(), {
      table: 'subject_archives',
      on: 'UPDATE',
      when: `NEW.organization_id = '${organizationId}' AND NEW.claim IS NOT NULL`,
    });
    const request = await ask(caller, { contact_id: id });
    await eventually(async () => expect(await killed.tries()).toBeGreaterThan(0));
    await database().query(
      `UPDATE subject_archives SET step = 'write', claimed_until = now() + interval '1 hour' WHERE organization_id = $1`,
      [organizationId],
    );
    await database().query(
      `INSERT INTO subject_archive_pieces (organization_id, subject_request_id, part, seq, row_count, sealed)
       SELECT $1, $2, 'file', n, 0, 'half' FROM generate_series(0, 4) AS n`,
      [organizationId, request.id],
    );
    await killed.mend();
    const headers = { accept: ZIP };
    expectProblem(await caller.get(`${REQUESTS}/${request.id}`, { headers }), 409, 'invalid_state');
    await database().query('UPDATE subject_archives SET claimed_until = now() WHERE organization_id = $1', [
      organizationId,
    ]);
    await archiveOf(caller, await world.inState(caller, request, 'completed'));
  }, 120_000);
});

describe('an archive of many rows', () => {
  it('is made of pages, and written in pieces', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    await remembered(world, organizationId, id, 20_000);
    const counts = await DatabaseFault.in(database(), {
      table: 'subject_archive_pieces',
      on: 'INSERT',
      when: `NEW.organization_id = '${organizationId}' AND (NEW.row_count > 500 OR octet_length(NEW.sealed) > 5000000)`,
    });
    const done = await asked(caller, { contact_id: id });
    expect(await counts.tries()).toBe(0);
    await counts.mend();
    expect(rowsIn((await archiveOf(caller, done)).files, 'core/events')).toHaveLength(20_000);
  }, 120_000);
});

describe('a purge', () => {
  it('removes the contact’s archives, and ends what is under way', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const contact = await world.contacts.created(caller);
    const done = await asked(caller, { contact_id: contact.id });
    const stranger = await world.contacts.created(caller);
    const other = await asked(caller, { contact_id: stranger.id });
    // Page after page, without an end.
    const next = { resource: 'notes', contact_id: contact.id, place: ['1'] };
    world.rows.set('crm', () => ({ resource: 'notes', rows: [], next }));
    const underWay = await ask(caller, { type: 'portability', contact_id: contact.id });
    expectStatus(await caller.delete(at(contact)), 204);
    expectStatus(await caller.delete(at(contact, '/purge')), 204);
    expect(await world.read(caller, underWay)).toMatchObject({
      state: 'rejected',
      rejection: { ground: 'other' },
    });
    expect(
      await database().query(
        'SELECT subject_request_id AS id FROM subject_archives WHERE organization_id = $1',
        [organizationId],
      ),
    ).toEqual([{ id: other.id }]);
    const headers = { accept: ZIP };
    expectProblem(await caller.get(`${REQUESTS}/${done.id}`, { headers }), 404, 'result_expired');
  }, 60_000);
});

describe('an erasure', () => {
  it('removes the person’s archives, and ends what is under way', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = `mark${newId().slice(-12)}`;
    const { id } = await world.contacts.created(caller, { email: `${mark}@example.com` });
    const done = await asked(caller, { contact_id: id });
    const waiting = await ask(caller, { type: 'portability', contact_id: id, verification: undefined });
    world.contacts.peers.crm.outage(true);
    const underWay = await ask(caller, { contact_id: id, note: mark });
    const erasure = await world.erase(caller, { contact_id: id });
    world.contacts.peers.crm.outage(false);
    const ended = await world.read(caller, underWay);
    expect(ended).toMatchObject({ state: 'rejected', rejection: { ground: 'other' }, note: null });
    const headers = { accept: ZIP };
    expectProblem(await caller.get(`${REQUESTS}/${done.id}`, { headers }), 404, 'result_expired');
    expect(
      await database().query('SELECT 1 FROM subject_archives WHERE organization_id = $1', [organizationId]),
    ).toEqual([]);
    await world.doneByCore(caller, erasure);
    expect((await searchEverything(database(), organizationId, [mark])).found).toEqual([]);
    expect((await world.read(caller, underWay)).state).toBe('rejected');
    // Nor does one begin that had not been verified yet.
    expect(await world.read(caller, waiting)).toMatchObject({
      state: 'rejected',
      rejection: { ground: 'other' },
    });
    const late = await caller.patch(`${REQUESTS}/${waiting.id}`, { verification: VERIFICATION });
    expectProblem(late, 409, 'invalid_state');
    await world.answerAll(organizationId, erasure.id);
    await world.inState(caller, erasure, 'completed');
  }, 120_000);

  it('is never begun by a request that asks for none, whichever release verifies it', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    const request = await ask(caller, { contact_id: id, verification: undefined });
    const begin = database().query(
      `INSERT INTO contact_erasures (organization_id, subject_request_id, contact_id, correlation_id, step, contact_ids,
                                     identifiers, counts, asked_at, moved_at, created_at)
       VALUES ($1, $2, $3, $2, 'events', '{}', '[]', '{}', now(), now(), now())`,
      [organizationId, request.id, id],
    );
    await expect(begin).rejects.toThrow('asks for no erasure');
  });
});
