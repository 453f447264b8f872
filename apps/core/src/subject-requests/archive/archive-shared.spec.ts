import { eventually, expectProblem, type Caller } from '@customer-platform/testing';
import { merge, undo } from '../../people/merges/merge.fixture.js';
import { START_MS } from '../../core.fixture.js';
import { ErasureWorld, REQUESTS } from '../subject-request.fixture.js';
import { Client } from 'pg';
import { archiveOf, ask, askedIn, rowsIn, ZIP } from './archive.fixture.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

const contactsIn = (files: Record<string, string>): unknown[] =>
  rowsIn(files, 'core/contacts').map(({ id }) => id);

const expectGone = async (caller: Caller, { id }: { id: string }): Promise<void> => {
  expectProblem(await caller.get(`${REQUESTS}/${id}`, { headers: { accept: ZIP } }), 404, 'result_expired');
};

const WAITING = `
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`;
const VERIFY = `
  UPDATE subject_requests
     SET state = 'in_progress', verification_method = 'x', verification_reference = 'x', verified_at = now(),
         updated_at = now()
   WHERE id = $1`;
/** As a verification begins one: of the family that it saw. */
const BEGIN = `
  INSERT INTO subject_archives (organization_id, subject_request_id, contact_ids, portable, locale, correlation_id, step,
                                module, pieces, key_sealed, claimed_until, moved_at, created_at)
  SELECT organization_id, id, $2, false, 'es', correlation_id, 'gather', 'core', 0, 'x', now() + interval '1 hour', now(), now()
    FROM subject_requests WHERE id = $1`;
const NAMED = 'SELECT contact_ids FROM subject_archives WHERE subject_request_id = $1';

describe('an archive of two who were merged', () => {
  it('ends when they part', async () => {
    const { caller } = world.contacts.anOrganization();
    const [survivor, merged] = [await world.contacts.created(caller), await world.contacts.created(caller)];
    const done = await merge(caller, survivor, merged);
    const request = await askedIn(world, caller, { contact_id: survivor.id });
    expect(contactsIn((await archiveOf(caller, request)).files).sort()).toEqual(
      [survivor.id, merged.id].sort(),
    );
    await undo(caller, done);
    await expectGone(caller, request);
    const again = await askedIn(world, caller, { contact_id: survivor.id });
    expect(contactsIn((await archiveOf(caller, again)).files)).toEqual([survivor.id]);
  }, 60_000);

  it('is gathered anew where they part before it is there', async () => {
    const { caller } = world.contacts.anOrganization();
    const [survivor, merged] = [await world.contacts.created(caller), await world.contacts.created(caller)];
    const done = await merge(caller, survivor, merged);
    world.contacts.peers.loyalty.outage(true);
    const request = await ask(caller, { contact_id: survivor.id });
    await eventually(async () => {
      const asks = 'SELECT module FROM subject_archives WHERE subject_request_id = $1';
      expect(await world.contacts.query(asks, [request.id])).toEqual([{ module: 'loyalty' }]);
    });
    await undo(caller, done);
    world.contacts.peers.loyalty.outage(false);
    const completed = await world.inState(caller, request, 'completed');
    expect(contactsIn((await archiveOf(caller, completed)).files)).toEqual([survivor.id]);
  }, 60_000);

  it('ends if it was begun before they were merged and made while they were', async () => {
    const { caller } = world.contacts.anOrganization();
    const [survivor, merged] = [await world.contacts.created(caller), await world.contacts.created(caller)];
    world.contacts.peers.crm.outage(true);
    const request = await ask(caller, { contact_id: survivor.id });
    const untouched = await ask(caller, { contact_id: (await world.contacts.created(caller)).id });
    const done = await merge(caller, survivor, merged);
    world.contacts.peers.crm.outage(false);
    const made = await world.inState(caller, request, 'completed');
    const other = await world.inState(caller, untouched, 'completed');
    await undo(caller, done);
    await expectGone(caller, made);
    await archiveOf(caller, other);
  }, 60_000);

  it('holds none of the other if it is begun while they part', async () => {
    const { caller } = world.contacts.anOrganization();
    const [survivor, merged] = [await world.contacts.created(caller), await world.contacts.created(caller)];
    const done = await merge(caller, survivor, merged);
    const request = await ask(caller, { contact_id: survivor.id, verification: undefined });
    const client = new Client({ connectionString: world.contacts.core.database.adminUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(VERIFY, [request.id]);
      await client.query(BEGIN, [request.id, [survivor.id, merged.id]]);
      const parting = undo(caller, done);
      await eventually(async () => expect(await world.contacts.query(WAITING, [])).toHaveLength(1));
      await client.query('COMMIT');
      await parting;
    } finally {
      await client.end();
    }
    expect(await world.contacts.query(NAMED, [request.id])).toEqual([{ contact_ids: [survivor.id] }]);
  }, 60_000);

  it('does not outlive the erasure of either, if it was made before the parting ended it', async () => {
    const { caller } = world.contacts.anOrganization();
    const [one, other] = [await world.contacts.created(caller), await world.contacts.created(caller)];
    const request = await askedIn(world, caller, { contact_id: one.id });
    await world.contacts.query(
      'UPDATE subject_archives SET contact_ids = contact_ids || $2::uuid WHERE subject_request_id = $1',
      [request.id, other.id],
    );
    await world.doneByCore(caller, await world.erase(caller, { contact_id: other.id }));
    await expectGone(caller, request);
  }, 60_000);
});
