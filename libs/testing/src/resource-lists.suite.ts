import type { Answer } from './caller.js';
import {
  expectProblem,
  expectStatus,
  unknownId,
  type ProblemAnswer,
  type ResourceItem,
  type ResourcePage,
  type ResourceWorld,
} from './soft-deletable-resource.js';

/** Queries that no list takes, and what it answers. */
const REFUSED = [
  ['?misspelt[eq]=2', 'unknown_parameter'],
  ['?created_at[like]=2', 'invalid_filter'],
  ['?created_at[gt]=yesterday', 'invalid_filter'],
  // A year that no calendar has, and no database takes.
  ['?created_at[gt]=0000-06-15T00:00:00Z', 'invalid_filter'],
  ['?sort=misspelt', 'invalid_sort'],
] as const;

/** Contract §3 on a resource's list: pages, cursors, limits, refusals, soft-deleted rows. */
export function itListsByTheContract(world: () => ResourceWorld): void {
  const list = <Body = ResourcePage>(query = ''): Promise<Answer<Body>> =>
    world().all.get(`${world().path}${query}`);

  it('lists newest first, hides soft-deleted rows unless asked', async () => {
    const first = await world().create();
    const gone = await world().createDeleted();
    const last = await world().create();
    const shown = await list();
    expectStatus(shown, 200);
    expect(shown.body.data.map(({ id }) => id)).toEqual([last.id, first.id]);
    expect(shown.body.page).toEqual({ limit: 50, next_cursor: null });
    const all = await list('?include_deleted=true');
    expect(all.body.data.map(({ id }) => id)).toEqual([last.id, gone.id, first.id]);
    expect(all.body.data[1]).toEqual(gone);
  });

  it('walks every row that stays exactly once while others come and go', async () => {
    const stay: ResourceItem[] = [];
    const passing: ResourceItem[] = [];
    for (let at = 0; at < 5; at += 1) {
      stay.push(await world().create());
      passing.push(await world().create());
    }
    const seen: string[] = [];
    let query = '?limit=2';
    for (let round = 0; query !== ''; round += 1) {
      const { body } = await list(query);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ id }) => id));
      const leaving = passing[round];
      if (leaving) await world().all.delete(world().at(leaving));
      await world().create();
      query = body.page.next_cursor ? `?limit=2&cursor=${body.page.next_cursor}` : '';
    }
    expect(new Set(seen).size).toBe(seen.length);
    const kept = stay.map(({ id }) => id);
    expect(seen.filter((id) => kept.includes(id)).sort()).toEqual([...kept].sort());
  });

  it('takes a limit of at most 200 and refuses what is none', async () => {
    expect((await list('?limit=5000')).body.page.limit).toBe(200);
    for (const limit of ['0', '-1', '1.5', 'ten', ''])
      expectProblem(await list<ProblemAnswer>(`?limit=${limit}`), 400, 'invalid_limit');
  });

  it('refuses an altered cursor, one of other filters, and one of another organization', async () => {
    await world().create();
    await world().create();
    const cursor = (await list('?limit=1')).body.page.next_cursor ?? '';
    expect(cursor).not.toBe('');
    const altered = `${cursor.slice(0, -2)}${cursor.endsWith('A') ? 'BB' : 'AA'}`;
    expectProblem(await list<ProblemAnswer>(`?limit=1&cursor=${altered}`), 400, 'invalid_cursor');
    expectProblem(
      await list<ProblemAnswer>(`?limit=1&include_deleted=true&cursor=${cursor}`),
      400,
      'cursor_mismatch',
    );
    const stranger = world().resource.app().as(unknownId(), [world().resource.permissions.read]);
    expectProblem(await stranger.get(`${world().path}?limit=1&cursor=${cursor}`), 400, 'invalid_cursor');
  });

  it('refuses what it does not know, and names it', async () => {
    const misspelt = expectProblem(await list<ProblemAnswer>('?limt=2'), 400, 'unknown_parameter');
    expect(misspelt.errors?.[0]?.parameter).toBe('limt');
    for (const [query, code] of REFUSED) expectProblem(await list<ProblemAnswer>(query), 400, code);
    const onItem = await world().all.get(`${world().at(await world().create())}?misspelt=1`);
    expectProblem(onItem, 400, 'unknown_parameter');
  });

  it('filters by the time of creation', async () => {
    const first = await world().create();
    const second = await world().create();
    const since = await list(`?created_at[gte]=${second.created_at}&sort=created_at`);
    expect(since.body.data.at(-1)?.id).toBe(second.id);
    const until = await list(`?created_at[lte]=${first.created_at}&sort=created_at`);
    expect(until.body.data[0]?.id).toBe(first.id);
  });
}
