import { expectProblem, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { DEFINITIONS, OBJECTS, ObjectWorld } from '../objects.fixture.js';
import type { ObjectRecordDto } from './object-record.dto.js';

let crm: TestCrm;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  world = new ObjectWorld(crm);
});

const FIELDS = [
  { key: 'name', type: 'string', indexed: true },
  { key: 'year', type: 'integer', indexed: true },
  { key: 'day', type: 'date', indexed: true },
  { key: 'at', type: 'datetime', indexed: true },
  { key: 'sold', type: 'boolean', indexed: true },
  { key: 'fuel', type: 'enum', options: [{ value: 'gas' }, { value: 'lpg' }], indexed: true },
  { key: 'weight', type: 'number' },
];

async function three(): Promise<void> {
  await world.define('vehicle', FIELDS);
  await world.add('vehicle', {
    ...{ name: 'Ábel', year: 2000, day: '2000-01-01', at: '2000-01-01T00:00:00Z' },
    ...{ sold: true, fuel: 'gas', weight: 1 },
  });
  await world.add('vehicle', {
    name: 'Abel, K',
    year: 2010,
    day: '2010-01-01',
    at: '2010-01-01T00:00:00Z',
    sold: false,
  });
  await world.add('vehicle', { name: '~', fuel: 'lpg' });
  await world.add('vehicle', {});
}

describe('what stands for no value in an index', () => {
  it('is no reference that a filter could name', async () => {
    const target = await world.define('owner');
    await world.define('vehicle', [{ key: 'ref', type: 'reference', target: target.id, indexed: true }]);
    const owner = await world.add('owner', {});
    const named = await world.add('vehicle', { ref: owner.id });
    const without = await world.add('vehicle', {});
    const idsOf = async (query: string) => (await world.list('vehicle', query)).map(({ id }) => id);
    const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    expect(await idsOf(`?values.ref=${last}`)).toEqual([]);
    expect(await idsOf(`?values.ref=${last.toUpperCase()}`)).toEqual([]);
    expect(await idsOf(`?values.ref[in]=${last},${owner.id}`)).toEqual([named.id]);
    expect(await idsOf('?values.ref[is_null]=true')).toEqual([without.id]);
  });
});

describe('GET /v1/crm/objects/{slug}', () => {
  it.each<[string, unknown[]]>([
    ['values.name=A%CC%81bel', ['Ábel']],
    ['values.name[prefix]=A', ['Abel, K']],
    ['values.name[prefix]=', ['~', 'Abel, K', 'Ábel']],
    ['values.name[in]=Abel%252C K,~', ['~', 'Abel, K']],
    ['values.name[is_null]=true', [null]],
    ['values.name[is_null]=false', ['~', 'Abel, K', 'Ábel']],
    ['values.year=2010', ['Abel, K']],
    ['values.year[gt]=2000', ['Abel, K']],
    ['values.year[gte]=2000', ['Abel, K', 'Ábel']],
    ['values.year[lt]=2010', ['Ábel']],
    ['values.year[gte]=2000&values.year[lt]=2010', ['Ábel']],
    ['values.year[in]=2000,2011', ['Ábel']],
    ['values.day[lte]=2000-01-01', ['Ábel']],
    ['values.at[gt]=2000-01-01T00:00:00.001Z', ['Abel, K']],
    ['values.at=2000-01-01T01:00:00%2B01:00', ['Ábel']],
    ['values.sold=false', ['Abel, K']],
    ['values.fuel[in]=gas,lpg', ['~', 'Ábel']],
    ['values.fuel=gas&values.year=2000', ['Ábel']],
    ['values.fuel=lpg&values.year[is_null]=true', ['~']],
    ['values.fuel=gas&values.year=2010', []],
    ['sort=values.name', ['~', 'Ábel', 'Abel, K', null]],
    ['sort=-values.name', ['Abel, K', 'Ábel', '~', null]],
    ['sort=values.year', ['Ábel', 'Abel, K', '~', null]],
    ['sort=-values.year', ['Abel, K', 'Ábel', null, '~']],
    ['sort=-values.year&values.year[gte]=2000', ['Abel, K', 'Ábel']],
    ['sort=-values.year&values.fuel[is_null]=false', ['Ábel', '~']],
    ['sort=updated_at&values.sold[is_null]=false', ['Ábel', 'Abel, K']],
    ['sort=-values.at', ['Abel, K', 'Ábel', null, '~']],
  ])('%s', async (query, names) => {
    await three();
    expect(await world.column('vehicle', 'name', `?${query}`)).toEqual(names);
  });

  it.each([
    ['values.weight=1', 'unknown_parameter'],
    ['values.colour=red', 'unknown_parameter'],
    ['name=x', 'unknown_parameter'],
    ['values.name[gt]=x', 'invalid_filter'],
    ['values.year=x', 'invalid_filter'],
    ['values.fuel=coal', 'invalid_filter'],
    ['sort=values.weight', 'invalid_sort'],
    ['sort=values.year,created_at', 'invalid_sort'],
    ['sort=created_at,updated_at', 'invalid_sort'],
  ])('400 for %s: %s', async (query, code) => {
    await three();
    expectProblem(await world.caller.get(`${OBJECTS}/vehicle?${query}`), 400, code);
  });

  it('400 before 404: what is wrong for every object, of one that is not there', async () => {
    expectProblem(await world.caller.get(`${OBJECTS}/nothing?limit=0`), 400, 'invalid_limit');
    expectProblem(await world.caller.get(`${OBJECTS}/nothing`), 404, 'not_found');
    expectProblem(await world.caller.get(`${OBJECTS}/No%20slug`), 404, 'not_found');
  });

  it('shows soft-deleted records where they are asked for', async () => {
    await world.define('vehicle', FIELDS);
    const record = await world.add('vehicle', { name: 'Gone', year: 1 });
    await world.add('vehicle', { name: 'Here', year: 1 });
    expectStatus(await world.delete('vehicle', record), 204);
    expect(await world.column('vehicle', 'name', '?values.year=1')).toEqual(['Here']);
    const all = '?values.year=1&include_deleted=true';
    expect(await world.column('vehicle', 'name', all)).toEqual(['Here', 'Gone']);
    expectStatus(await world.restore('vehicle', record), 200);
    expect(await world.column('vehicle', 'name', '?values.year=1')).toEqual(['Here', 'Gone']);
  });

  it.each([
    'sort=values.year',
    'sort=-values.year',
    'sort=-values.year&values.fuel=gas',
    'sort=values.name&values.fuel=gas',
    'values.fuel=gas',
    'sort=created_at&values.fuel=gas&values.year[gte]=0',
    'sort=updated_at&values.fuel=gas',
    'sort=-values.at',
  ])('walks page by page as in one page: %s', async (query) => {
    await world.define('vehicle', FIELDS);
    for (let at = 0; at < 11; at += 1)
      await world.add('vehicle', {
        name: at % 4 === 0 ? null : `n${String(at % 3)}`,
        year: at % 3 === 0 ? null : at % 4,
        fuel: at % 5 === 0 ? 'lpg' : 'gas',
        at: at % 2 === 0 ? null : `2026-01-0${String((at % 4) + 1)}T00:00:00Z`,
      });
    const whole = (await world.list('vehicle', `?${query}`)).map(({ id }) => id);
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `${OBJECTS}/vehicle?${query}&limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await world.caller.get<{
        data: ObjectRecordDto[];
        page: { next_cursor: string | null };
      }>(path);
      walked.push(...body.data.map(({ id }) => id));
      cursor = body.page.next_cursor;
    }
    expect(walked).toEqual(whole);
    expect(new Set(walked).size).toBe(whole.length);
  });
});

describe('an index over records that there are', () => {
  const PLAIN = { key: 'year', type: 'integer' };
  const INDEXED = { fields: [{ ...PLAIN, indexed: true }] };

  it('is ready with the answer where they are few', async () => {
    const thing = await world.define('thing', [PLAIN]);
    const record = await world.add('thing', { year: 3 });
    await world.add('thing', {});
    expectStatus(await world.delete('thing', await world.add('thing', { year: 4 })), 204);
    const { body } = await world.redefine(thing, INDEXED);
    expect(body.fields).toEqual([expect.objectContaining({ index_state: 'ready' })]);
    expect(await world.list('thing', '?values.year=3')).toEqual([record]);
    expect(await world.column('thing', 'year', '?sort=values.year&include_deleted=true')).toEqual([
      3,
      4,
      null,
    ]);
  });

  it('409 index_building until it is ready, with its progress', async () => {
    const thing = await world.define('thing', [PLAIN]);
    await crm.database.query(
      `INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
       SELECT $1, ('01940000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2,
              jsonb_build_object('year', n), '2024-12-25T22:46:27.584Z', now()
         FROM generate_series(1, 3600) AS n`,
      [world.organizationId, thing.id],
    );
    await crm.database.query(
      `INSERT INTO object_tallies (organization_id, definition_id, shard, records, active, held, active_held)
       VALUES ($1, $2, 0, 3600, 3600, '{"year": 3600}', '{"year": 3600}')`,
      [world.organizationId, thing.id],
    );
    const { body } = await world.redefine(thing, INDEXED);
    expect(body.fields).toEqual([
      expect.objectContaining({
        index_state: 'building',
        index_progress: { processed: 3_000, total: 3_600 },
      }),
    ]);
    const problem = expectProblem(
      await world.caller.get(`${OBJECTS}/thing?values.year=3`),
      409,
      'index_building',
    );
    expect(problem['field']).toBe('year');
    expectProblem(await world.caller.get(`${OBJECTS}/thing?sort=values.year`), 409, 'index_building');
    expect(await world.caller.get(`${DEFINITIONS}/${thing.id}`)).toMatchObject({ status: 200 });
  });
});

/** Records of a generation, half with `name=a`, half with `year=1`, none with both. */
const FILL = `
  WITH records AS (
    INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
    SELECT $1, ('01940000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2,
           CASE WHEN n % 2 = 0 THEN '{"name": "a", "year": 2}'::jsonb ELSE '{"name": "b", "year": 1}' END,
           '2024-12-25T22:46:27.584Z', now()
      FROM generate_series(1, $3::int) AS n RETURNING id, "values"),
  names AS (
    INSERT INTO object_texts (organization_id, definition_id, number, value, record_id, live)
    SELECT $1, $2, $4, '=' || ("values"->>'name'), id, true FROM records)
  INSERT INTO object_numbers (organization_id, definition_id, number, value, record_id, live)
  SELECT $1, $2, $5, ("values"->>'year')::float8, id, true FROM records`;

describe('filters of which each lets many records through, and together few', () => {
  it('end a page where enough was looked at; the walk comes to all that there are', async () => {
    const definition = await world.define('thing', FIELDS.slice(0, 2));
    const [row] = await crm.database.query<{ indexes: { number: number }[] }>(
      'SELECT indexes FROM object_definitions WHERE id = $1',
      [definition.id],
    );
    const numbers = row?.indexes.map(({ number }) => number) ?? [];
    await crm.database.query(FILL, [world.organizationId, definition.id, 50_000, ...numbers]);
    await crm.database.query(
      `INSERT INTO object_tallies (organization_id, definition_id, shard, records, active, held, active_held)
       VALUES ($1, $2, 0, 50000, 50000, '{"name": 50000, "year": 50000}', '{"name": 50000, "year": 50000}')`,
      [world.organizationId, definition.id],
    );
    const both = await world.add('thing', { name: 'a', year: 1 });
    const last = await world.add('thing', { name: 'a', year: 3 });
    const walk = async (query: string): Promise<{ ids: string[]; pages: number }> => {
      const ids: string[] = [];
      let pages = 0;
      for (let cursor = ''; ; pages += 1) {
        const path = `${OBJECTS}/thing?limit=50&values.name=a&values.year=1${query}${cursor}`;
        const answer = await world.caller.get<{
          data: ObjectRecordDto[];
          page: { next_cursor: string | null };
        }>(path);
        expectStatus(answer, 200);
        ids.push(...answer.body.data.map(({ id }) => id));
        const { next_cursor: next } = answer.body.page;
        if (next === null) return { ids, pages: pages + 1 };
        cursor = `&cursor=${next}`;
      }
    };
    for (const sort of ['-created_at', 'created_at', 'updated_at', 'values.name', '-values.year']) {
      const { ids, pages } = await walk(`&sort=${sort}`);
      expect(ids).toEqual([both.id]);
      expect(pages).toBeGreaterThan(1);
    }
    expect((await world.list('thing', '?values.name=a&limit=1'))[0]?.id).toBe(last.id);
    const oldest = `'01940000-0000-7000-8000-000000002ee0'`;
    for (const statement of [
      `UPDATE object_texts SET value = '=old' WHERE organization_id = $1 AND record_id <= ${oldest}`,
      `UPDATE object_records SET "values" = "values" || '{"name": "old"}' WHERE organization_id = $1 AND id <= ${oldest}`,
    ])
      await crm.database.query(statement, [world.organizationId]);
    for (const sort of ['created_at', '-created_at']) {
      const page = await world.list('thing', `?values.name[in]=old,none&limit=50&sort=${sort}`);
      expect(page).toHaveLength(50);
      const at = page.map(({ id }) => id);
      expect(at).toEqual(sort === 'created_at' ? at.toSorted() : at.toSorted().reverse());
    }
  });
});
