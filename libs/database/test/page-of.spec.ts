import fc from 'fast-check';
import { anOrganization } from '@customer-platform/testing';
import {
  Cursors,
  parseListRequest,
  type ListDefinition,
  type ListQuery,
  type Page,
} from '@customer-platform/http';
import { newId, pageOf } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

interface Row {
  id: string;
  name: string;
  weight: number | null;
}

const LIST: ListDefinition = {
  resource: 'widgets',
  defaultSort: '-created_at',
  includeDeleted: true,
  timelineSource: { occurredAt: 'created_at' },
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'in', 'prefix', 'ne'] },
    weight: { type: 'integer', column: 'weight' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name' },
    weight: { type: 'integer', column: 'weight', nulls: 'last' },
    weight_first: { type: 'integer', column: 'weight', nulls: 'first' },
  },
};
const cursors = new Cursors('a secret of at least thirty-two characters');

describe('pageOf', () => {
  let world: WidgetWorld;
  beforeAll(async () => {
    world = await aWidgetWorld();
  });
  afterAll(() => world.close());

  const request = (organizationId: string, query: Record<string, string>): ListQuery =>
    parseListRequest(
      LIST,
      Object.entries(query).map(([name, value]) => ({ name, value })),
      organizationId,
      cursors,
    );
  const page = (organizationId: string, query: Record<string, string>): Promise<Page<Row>> =>
    world.database.inOrganization({ organizationId }, (tx) =>
      pageOf<Row>(tx, 'SELECT id, name, weight, created_at FROM widgets', request(organizationId, query)),
    );
  const walk = async (
    organizationId: string,
    query: Record<string, string>,
    between: (round: number) => Promise<void> = async () => undefined,
  ): Promise<Row[]> => {
    const rows: Row[] = [];
    let cursor: string | null = null;
    let round = 0;
    do {
      const next: Page<Row> = await page(organizationId, { ...query, ...(cursor ? { cursor } : {}) });
      rows.push(...next.data);
      cursor = next.page.next_cursor;
      await between(round);
      round += 1;
    } while (cursor);
    return rows;
  };
  const insert = async (
    organizationId: string,
    rows: { name: string; weight: number | null; at: number }[],
  ): Promise<string[]> => {
    const ids = rows.map(() => newId());
    await world.database.inOrganization({ organizationId }, (tx) =>
      tx.query(
        `INSERT INTO widgets (organization_id, id, name, weight, created_at, updated_at, deleted_at)
         SELECT $1, id, name, weight, 'epoch'::timestamptz + at * interval '1 ms', now(), now()
         FROM unnest($2::uuid[], $3::text[], $4::int[], $5::int[]) AS r (id, name, weight, at)`,
        [organizationId, ids, rows.map((r) => r.name), rows.map((r) => r.weight), rows.map((r) => r.at)],
      ),
    );
    return ids;
  };

  it('walks every row exactly once and in order, for any sort, limit, ties and nulls', async () => {
    const sorts = [
      'created_at',
      '-created_at',
      'weight,-name',
      '-weight,created_at',
      'name',
      '-weight_first',
      'weight_first,name',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            name: fc.constantFrom('a', 'b', 'B', 'é', '%', '_x'),
            weight: fc.option(fc.integer({ min: -2, max: 2 })),
            at: fc.integer({ min: 0, max: 3 }),
          }),
          { maxLength: 14 },
        ),
        fc.constantFrom(...sorts),
        fc.integer({ min: 1, max: 6 }),
        async (rows, sort, limit) => {
          const organizationId = anOrganization().id;
          const ids = await insert(organizationId, rows);
          const walked = await walk(organizationId, { sort, limit: String(limit) });
          expect(walked.map(({ id }) => id).sort()).toEqual([...ids].sort());
          const whole = await page(organizationId, { sort, limit: '200' });
          expect(walked).toEqual(whole.data);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ends a page of large rows at 4 MiB, never before the first, and goes on after it', async () => {
    const organizationId = anOrganization().id;
    const mebibytes = [1, 2, 1, 3, 6, 0, 0, 0, 0, 0, 0, 0, 5];
    const sizes = mebibytes.map((size) => Math.max(0, size * 1_048_576 - 500));
    await insert(
      organizationId,
      sizes.map((_, at) => ({ name: String(at), weight: null, at })),
    );
    await world.database.inOrganization({ organizationId }, (tx) =>
      tx.query(
        `UPDATE widgets SET settings = jsonb_build_object('text', repeat('x', ($1::int[])[name::int + 1]))
          WHERE organization_id = $2`,
        [sizes, organizationId],
      ),
    );
    const pages: number[][] = [];
    let cursor: string | null = null;
    do {
      const asked = request(organizationId, {
        sort: 'created_at',
        limit: '10',
        ...(cursor ? { cursor } : {}),
      });
      const { data, page }: Page<Row> = await world.database.inOrganization({ organizationId }, (tx) =>
        pageOf<Row>(tx, 'SELECT id, name, weight, settings, created_at FROM widgets', asked, {
          largeRows: true,
        }),
      );
      pages.push(data.map(({ name }) => Number(name)));
      cursor = page.next_cursor;
    } while (cursor);
    expect(pages).toEqual([[0, 1, 2], [3], [4], [5, 6, 7, 8, 9, 10, 11], [12]]);
  });

  it('brings what stays exactly once while other rows come and go', async () => {
    const organizationId = anOrganization().id;
    const stay = await insert(
      organizationId,
      Array.from({ length: 20 }, (_, at) => ({ name: 'stays', weight: null, at: at * 10 })),
    );
    const passing = await insert(
      organizationId,
      Array.from({ length: 20 }, (_, at) => ({ name: 'goes', weight: null, at: at * 10 + 5 })),
    );
    const walked = await walk(organizationId, { limit: '3' }, async (round) => {
      await insert(organizationId, [{ name: 'comes', weight: null, at: (round * 37) % 200 }]);
      await world.database.inOrganization({ organizationId }, (tx) =>
        tx.query('DELETE FROM widgets WHERE id = $1', [passing[(round * 7) % 20]]),
      );
    });
    const seen = walked.filter(({ name }) => name === 'stays').map(({ id }) => id);
    expect(seen.sort()).toEqual([...stay].sort());
    expect(new Set(walked.map(({ id }) => id)).size).toBe(walked.length);
  });

  it('filters: ranges, lists, absence, prefixes taken literally and ignoring case', async () => {
    const organizationId = anOrganization().id;
    const names = ['Alpha', 'alphabet', 'al%ha', 'beta', 'al_x'];
    await insert(
      organizationId,
      names.map((name, at) => ({ name, weight: at === 3 ? null : at, at })),
    );
    const found = async (query: Record<string, string>): Promise<string[]> =>
      (await page(organizationId, { sort: 'created_at', ...query })).data.map(({ name }) => name);
    expect(await found({ 'name[prefix]': 'ALPHA' })).toEqual(['Alpha', 'alphabet']);
    expect(await found({ 'name[prefix]': 'al%' })).toEqual(['al%ha']);
    expect(await found({ 'name[prefix]': 'al_' })).toEqual(['al_x']);
    expect(await found({ name: 'ALPHA' })).toEqual(['Alpha']);
    expect(await found({ 'name[in]': 'BETA,alphabet' })).toEqual(['alphabet', 'beta']);
    expect(await found({ 'weight[gte]': '1', 'weight[lt]': '4' })).toEqual(['alphabet', 'al%ha']);
    expect(await found({ 'weight[is_null]': 'true' })).toEqual(['beta']);
    expect(await found({ 'weight[is_null]': 'false', 'name[ne]': 'alpha' })).toEqual([
      'alphabet',
      'al%ha',
      'al_x',
    ]);
    expect(await found({ 'weight[ne]': '0' })).toEqual(['alphabet', 'al%ha', 'beta', 'al_x']);
  });

  it('goes on before a pair of time and id, anywhere within a page', async () => {
    const organizationId = anOrganization().id;
    const ids = await insert(
      organizationId,
      Array.from({ length: 9 }, (_, at) => ({ name: `n${at}`, weight: null, at: Math.floor(at / 3) })),
    );
    const newestFirst = [...ids].reverse();
    for (const [at, id] of newestFirst.entries()) {
      const occurredAt = new Date(Math.floor((8 - at) / 3)).toISOString();
      const rest = await page(organizationId, { before_occurred_at: occurredAt, before_id: id });
      expect(rest.data.map((row) => row.id)).toEqual(newestFirst.slice(at + 1));
    }
  });

  it('seeks: a deep page reads the index from its place, not from the start', async () => {
    const organizationId = anOrganization().id;
    await world.test.query(
      'CREATE INDEX IF NOT EXISTS widgets_by_time ON widgets (organization_id, created_at, id)',
    );
    await world.test.query(
      `INSERT INTO widgets (organization_id, id, name, created_at, updated_at, deleted_at)
       SELECT $1, gen_random_uuid(), 'w', 'epoch'::timestamptz + n * interval '1 s', now(), now()
       FROM generate_series(1, 20000) AS n`,
      [organizationId],
    );
    await world.test.query('ANALYZE widgets');
    const query = request(organizationId, {
      before_occurred_at: '1970-01-01T00:05:00Z',
      before_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    });
    const plan = await world.database.inOrganization({ organizationId }, async (tx) => {
      const explained = {
        ...tx,
        query: (sql: string, values: unknown[]) => tx.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values),
      };
      let text = '';
      await pageOf(
        {
          ...explained,
          query: async (sql: string, values: unknown[]) => {
            text = JSON.stringify(await explained.query(sql, values));
            return [];
          },
        } as never,
        'SELECT id, name, created_at FROM widgets WHERE organization_id = $1',
        query,
        { parameters: [organizationId] },
      );
      return text;
    });
    expect(plan).toContain('widgets_by_time');
    expect(plan).not.toContain('Seq Scan');
    expect(plan).not.toContain('"Sort"');
    expect(Number(/"Actual Rows":([\d.]+)/.exec(plan)?.[1])).toBeLessThanOrEqual(51);
    expect(plan).not.toContain('Rows Removed by Filter');
  });

  it('read up to an end says of one state of the database what it shows and where it ends', async () => {
    const organizationId = anOrganization().id;
    const given = (from: number) =>
      Array.from({ length: 5 }, (_, n) => ({ name: n === 0 ? 'x' : 'y', weight: n, at: from + n }));
    await insert(organizationId, given(0));
    let latest = 0;
    /** Eight rows are looked at; what commits as a statement ends is of the next one. */
    const read = (query: Record<string, string>): Promise<Page<Row>> =>
      world.database.inOrganization({ organizationId }, async (tx) => {
        let between = false;
        const counted = {
          ...tx,
          query: async (sql: string, values: unknown[]) => {
            const rows = await tx.query(sql, values);
            if (!between) await insert(organizationId, given((latest += 100)));
            between = true;
            return rows;
          },
        };
        const asked = request(organizationId, { sort: 'created_at', name: 'x', ...query });
        const [at, id] = asked.after ?? ['-infinity', '00000000-0000-0000-0000-000000000000'];
        const rows = `SELECT * FROM widgets WHERE organization_id = $1 AND (created_at, id) > ($2, $3)
          ORDER BY created_at, id`;
        const parameters = [organizationId, at, id];
        const end = `${rows} OFFSET 7 LIMIT 1`;
        return pageOf<Row>(counted as never, `SELECT * FROM (${rows} LIMIT 8) AS own`, asked, {
          parameters,
          end,
        });
      });
    expect((await read({})).page.next_cursor).toBeNull();
    const first = await read({});
    expect(first.data.map(({ weight }) => weight)).toEqual([0, 0]);
    const { data, page: next } = await read({ cursor: first.page.next_cursor ?? '' });
    expect(data).toHaveLength(1);
    expect(next.next_cursor).toBeNull();
    expect((await read({ limit: '1' })).data).toHaveLength(1);
    expect((await read({ name: 'z' })).data).toEqual([]);
  });
});
