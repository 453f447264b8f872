import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { CURRENT_STAYS, PAST_STAYS } from './contact-segments.service.js';
import { SegmentWorld } from './segment.fixture.js';
import type { ContactSegmentDto } from './segment.dto.js';

const MINUTE = 60_000;
const CONTACTS = '/v1/core/contacts';

let world: SegmentWorld;
let id: string;
let caller: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
beforeEach(() => {
  ({ id, caller } = world.anOrganization());
  world.stopClock('2026-06-15T12:00:00.000Z');
});
afterEach(() => world.stopClock());
afterAll(() => world.close());

interface Listed {
  data: ContactSegmentDto[];
  page: { next_cursor: string | null };
}

const path = (contactId: string, query = ''): string => `${CONTACTS}/${contactId}/segments${query}`;
const payers = { event: 'invoice_paid', within: 'PT1H' };

async function contact(externalId: string): Promise<string> {
  const answer = await caller.post<{ id: string }>(CONTACTS, { external_id: externalId });
  expectStatus(answer, 201);
  return answer.body.id;
}

async function stays(contactId: string, query = ''): Promise<ContactSegmentDto[]> {
  const answer = await caller.get<Listed>(path(contactId, query));
  expectStatus(answer, 200);
  return answer.body.data;
}

const pays = (externalId: string): Promise<void> => world.happen(id, { externalId, at: world.now() });

describe('GET /v1/core/contacts/{id}/segments', () => {
  it('answers the segments that the contact is in, with cause and time, and with status=left those it has left', async () => {
    const ana = await contact('ana');
    const bea = await contact('bea');
    const segment = await world.segment(caller, payers, 'Payers');
    const entered = world.now();
    await pays('ana');
    const stay = { segment_id: segment.id, name: 'Payers', entered_at: entered, cause: 'event' };
    expect(await stays(ana)).toEqual([{ ...stay, left_at: null, left_cause: null }]);
    expect([await stays(ana, '?status=left'), await stays(bea)]).toEqual([[], []]);
    world.pass(60 * MINUTE);
    await world.evaluate();
    expect(await stays(ana)).toEqual([]);
    const [left] = await stays(ana, '?status=left');
    expect(left).toEqual({ ...stay, left_at: world.now(), left_cause: 'time' });
    expect(await stays(ana, '?status=current')).toEqual([]);
  });

  it('says what the segment’s own list of members says', async () => {
    const ana = await contact('ana');
    const segment = await world.segment(caller, payers);
    await pays('ana');
    const [member] = await world.members(caller, segment, `?contact_id=${ana}`);
    const [stay] = await stays(ana);
    const { entered_at, cause, left_at, left_cause } = stay ?? {};
    expect(member).toMatchObject({ entered_at, cause, left_at, left_cause });
  });

  it('pages by cursor, newest stay first, filters by segment and time', async () => {
    const ana = await contact('ana');
    const ids: string[] = [];
    for (const event of ['a', 'b', 'c', 'd', 'e']) {
      ids.unshift((await world.segment(caller, { event })).id);
      world.pass(MINUTE);
      await world.happen(id, { externalId: 'ana', event, at: world.now() });
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${encodeURIComponent(cursor)}`;
      const answer = await caller.get<Listed>(path(ana, query));
      expectStatus(answer, 200);
      seen.push(...answer.body.data.map(({ segment_id }) => segment_id));
      cursor = answer.body.page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    const [newest = '', second = ''] = ids;
    expect((await stays(ana, `?segment_id=${second}`)).map(({ segment_id }) => segment_id)).toEqual([second]);
    const since = encodeURIComponent(world.now());
    expect((await stays(ana, `?entered_at[gte]=${since}`)).map(({ segment_id }) => segment_id)).toEqual([
      newest,
    ]);
    expect((await stays(ana, '?sort=entered_at'))[0]?.segment_id).toBe(ids.at(-1));
  });

  it('shows nothing of one contact by another’s cursor, and refuses what it does not know', async () => {
    const [ana, bea] = [await contact('ana'), await contact('bea')];
    for (const event of ['a', 'b']) await world.segment(caller, { event });
    for (const event of ['a', 'b']) await world.happen(id, { externalId: 'ana', event, at: world.now() });
    const { next_cursor: cursor } = (await caller.get<Listed>(path(ana, '?limit=1'))).body.page;
    const query = `?limit=1&cursor=${encodeURIComponent(cursor ?? '')}`;
    expectStatus(await caller.get(path(ana, query)), 200);
    // A cursor is a place in an order: at another contact it shows that contact's own stays, never these.
    expect(await stays(bea, query)).toEqual([]);
    expectProblem(await caller.get(path(ana, '?status=gone')), 400, 'invalid_filter');
    expectProblem(await caller.get(path(ana, '?contact_id=x')), 400, 'unknown_parameter');
    expectProblem(await caller.get(path(ana, '?segment_id=x')), 400, 'invalid_filter');
    expectProblem(await caller.get(path('ana')), 400, 'invalid_id');
  });

  it('leaves out soft-deleted segments, until they are restored', async () => {
    const ana = await contact('ana');
    const segment = await world.segment(caller, payers);
    await pays('ana');
    expectStatus(await caller.delete(`/v1/core/segments/${segment.id}`), 204);
    expect(await stays(ana)).toEqual([]);
    expectStatus(await caller.post(`/v1/core/segments/${segment.id}/restore`), 200);
    await world.evaluate();
    expect(await stays(ana)).toMatchObject([{ segment_id: segment.id }]);
  });

  it('307 of a merged contact to its survivor, with the query; 200 of a soft-deleted one; 404 of none', async () => {
    const [ana, bea, eva] = [await contact('ana'), await contact('bea'), await contact('eva')];
    expectStatus(await caller.post(`${CONTACTS}/merge`, { survivor_id: ana, merged_id: bea }), 200);
    const moved = await caller.get(path(bea, '?status=left&limit=7'));
    expect([moved.status, moved.headers.get('location'), moved.headers.get('cache-control')]).toEqual([
      307,
      path(ana, '?status=left&limit=7'),
      'no-store',
    ]);
    expectStatus(await caller.delete(`${CONTACTS}/${eva}`), 204);
    await world.evaluate();
    expect(await stays(eva)).toEqual([]);
    expectProblem(await caller.get(path(newId())), 404, 'not_found');
  });

  it('needs core.segments.read and nothing else; of another organization the contact is 404', async () => {
    const ana = await contact('ana');
    const others = PERMISSIONS.filter((permission) => permission !== 'core.segments.read');
    const { app } = world.core;
    expectStatus(await app.as(id, ['core.segments.read']).get(path(ana)), 200);
    const refused = expectProblem(await app.as(id, others).get(path(ana)), 403, 'permission_denied');
    expect(refused['permission']).toBe('core.segments.read');
    expectProblem(await world.anOrganization().caller.get(path(ana)), 404, 'not_found');
  });

  it('reads one contact’s stays by the contact, among those of many', async () => {
    const { query } = world.core.database;
    const segment = await world.segment(caller, payers);
    const ana = await contact('ana');
    await pays('ana');
    await query(
      `INSERT INTO segment_members (organization_id, id, segment_id, contact_id, entered_at, cause, left_at, left_cause)
       SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), now(), 'event', CASE WHEN n % 2 = 0 THEN now() END,
              CASE WHEN n % 2 = 0 THEN 'time' END FROM generate_series(1, 5000) AS n`,
      [id, segment.id],
    );
    await query('ANALYZE segment_members');
    for (const [select, index] of [
      [CURRENT_STAYS, 'segment_members_once'],
      [PAST_STAYS, 'segment_members_gone'],
    ] as const) {
      const rows = await query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS OFF) ${select} ORDER BY member.entered_at DESC, member.id DESC LIMIT 51`,
        [id, ana],
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(index);
    }
  });
});
