import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { ErasureWorld } from '../../subject-requests/subject-request.fixture.js';
import { at, type ContactWorld } from '../contacts/contact.fixture.js';
import { MERGES_OF_CONTACT } from './contact-merges.service.js';
import type { ContactMergeDto } from './merge.dto.js';
import { merge, undo, tryUndo } from './merge.fixture.js';

let erasures: ErasureWorld;
let world: ContactWorld;
beforeAll(async () => {
  erasures = await ErasureWorld.start();
  world = erasures.contacts;
}, START_MS);
afterAll(() => erasures.close());

interface Listed {
  data: ContactMergeDto[];
  page: { next_cursor: string | null };
}

async function mergesOf(caller: Caller, contact: { id: string }, query = ''): Promise<ContactMergeDto[]> {
  const answer = await caller.get<Listed>(at(contact, `/merges${query}`));
  expectStatus(answer, 200);
  return answer.body.data;
}

const idsOf = (merges: readonly ContactMergeDto[]): string[] => merges.map(({ id }) => id);

describe('GET /v1/core/contacts/{id}/merges', () => {
  it('tells of each merge whom and what it merged, without further values, and says what undoes it', async () => {
    const { caller } = world.anOrganization();
    const survivor = await world.created(caller, { external_id: 'a' });
    const merged = await world.created(caller, {
      external_id: 'b',
      first_name: 'Anita',
      birth_date: '1990-05-17',
    });
    const done = await merge(caller, survivor, merged, { reason: 'the same telephone' });
    const [told, ...others] = await mergesOf(caller, survivor);
    expect(others).toEqual([]);
    expect(told).toEqual({
      id: done.merge_id,
      status: 'merged',
      survivor_id: survivor.id,
      merged_id: merged.id,
      merged_contact: { first_name: 'Anita', last_name: null, email: null, phone: null, external_id: 'b' },
      reason: 'the same telephone',
      fields: [
        { field: 'external_id', kept: 'survivor' },
        { field: 'first_name', kept: 'survivor' },
        { field: 'birth_date', kept: 'merged' },
      ],
      moved: done.moved,
      undoable: true,
      merged_at: expect.any(String),
      undone_at: null,
    });
    expect(JSON.stringify(told)).not.toContain('1990');
    await undo(caller, { merge_id: told?.id ?? '' });
    const after = {
      ...told,
      status: 'undone',
      merged_contact: null,
      undoable: false,
      undone_at: expect.any(String),
    };
    expect(await mergesOf(caller, survivor)).toEqual([after]);
    expect(await mergesOf(caller, merged)).toEqual([after]);
  });

  it('has the merges of who was merged before, newest first, of which the last alone can be undone', async () => {
    const { caller } = world.anOrganization();
    const [first, between, last, other] = [
      await world.created(caller),
      await world.created(caller),
      await world.created(caller),
      await world.created(caller),
    ];
    const inner = await merge(caller, between, first);
    const outer = await merge(caller, last, between);
    const latest = await merge(caller, last, other);
    const expected = [latest.merge_id, outer.merge_id, inner.merge_id];
    const listed = await mergesOf(caller, last);
    expect(idsOf(listed)).toEqual(expected);
    expect(listed.map(({ undoable }) => undoable)).toEqual([true, false, false]);
    for (const { id, undoable } of listed) {
      const tried = await tryUndo(caller, { merge_id: id }, { dry_run: true });
      expect([id, tried.status]).toEqual([id, undoable ? 200 : 409]);
    }
    await undo(caller, latest);
    expect((await mergesOf(caller, last, '?status=merged')).map(({ undoable }) => undoable)).toEqual([
      true,
      false,
    ]);
    await undo(caller, outer);
    expect(idsOf(await mergesOf(caller, between, '?status=merged'))).toEqual([inner.merge_id]);
    expect((await mergesOf(caller, between, '?status=merged'))[0]?.undoable).toBe(true);
  });

  it('pages by cursor, filters by state and time, and refuses what it does not know', async () => {
    const { caller } = world.anOrganization();
    const survivor = await world.created(caller);
    const made: (string | null)[] = [];
    for (let n = 0; n < 5; n += 1)
      made.unshift((await merge(caller, survivor, await world.created(caller))).merge_id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${encodeURIComponent(cursor)}`;
      const answer = await caller.get<Listed>(at(survivor, `/merges${query}`));
      expectStatus(answer, 200);
      seen.push(...idsOf(answer.body.data));
      cursor = answer.body.page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(made);
    expect(idsOf(await mergesOf(caller, survivor, '?sort=merged_at'))).toEqual([...made].reverse());
    expect(await mergesOf(caller, survivor, '?status=undone')).toEqual([]);
    const [, second] = await mergesOf(caller, survivor);
    const since = encodeURIComponent(second?.merged_at ?? '');
    expect(idsOf(await mergesOf(caller, survivor, `?merged_at[gte]=${since}`))).toContain(second?.id);
    expectProblem(await caller.get(at(survivor, '/merges?status=gone')), 400, 'invalid_filter');
    expectProblem(await caller.get(at(survivor, '/merges?reason=x')), 400, 'unknown_parameter');
    expectProblem(await caller.get(at({ id: 'x' }, '/merges')), 400, 'invalid_id');
  });

  it('307 of a merged contact to its survivor, with the query; 404 of none', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await merge(caller, survivor, merged);
    const moved = await caller.get(at(merged, '/merges?limit=7'));
    expect([moved.status, moved.headers.get('location'), moved.headers.get('cache-control')]).toEqual([
      307,
      at(survivor, '/merges?limit=7'),
      'no-store',
    ]);
    expectProblem(await caller.get(at({ id: newId() }, '/merges')), 404, 'not_found');
  });

  it('says nothing of a merge with somebody who was erased since', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await undo(caller, await merge(caller, survivor, merged, { reason: 'of whom is erased' }));
    await erasures.doneByCore(caller, await erasures.erase(caller, { contact_id: merged.id }));
    const [told] = await mergesOf(caller, survivor);
    expect(told).toMatchObject({ reason: null, fields: [], undoable: false });
    expectProblem(await caller.get(at(merged, '/merges')), 404, 'not_found');
  });

  it('needs core.contacts.merge and nothing else; of another organization the contact is 404', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller);
    const others = PERMISSIONS.filter((permission) => permission !== 'core.contacts.merge');
    const { app } = world.core;
    expectStatus(await app.as(id, ['core.contacts.merge']).get(at(contact, '/merges')), 200);
    const refused = expectProblem(
      await app.as(id, others).get(at(contact, '/merges')),
      403,
      'permission_denied',
    );
    expect(refused['permission']).toBe('core.contacts.merge');
    const foreign = world.anOrganization().caller;
    expectProblem(await foreign.get(at(contact, '/merges')), 404, 'not_found');
  });

  it('reads one contact’s merges by the contact, among those of many', async () => {
    const { id, caller } = world.anOrganization();
    const [survivor, merged] = [await world.created(caller), await world.created(caller)];
    await merge(caller, survivor, merged);
    await world.query(
      `INSERT INTO contacts (organization_id, id, source, merged_into)
       SELECT $1, gen_random_uuid(), 'api', NULL FROM generate_series(1, 3000)`,
      [id],
    );
    await world.query(
      `INSERT INTO contact_merges (organization_id, id, survivor_id, merged_id, status, changes, outcome, seen_before, merged_at)
       SELECT $1, gen_random_uuid(), one.id, one.id, 'undone', '[]', '{"fields": [], "moved": {}}', now(), now()
         FROM contacts AS one WHERE one.organization_id = $1 AND one.id <> ALL($2::uuid[])`,
      [id, [survivor.id, merged.id]],
    );
    await world.query('ANALYZE contact_merges, contacts', []);
    const rows = await world.query(
      `EXPLAIN (COSTS OFF) SELECT * FROM (${MERGES_OF_CONTACT}) AS page_source ORDER BY merged_at DESC, id DESC LIMIT 51`,
      [id, [survivor.id, merged.id]],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('contact_merges_by_survivor');
    expect(plan).toContain('contact_merges_by_merged');
    expect(plan).not.toMatch(/Seq Scan on contact(?:_merge)?s/);
  });
});
