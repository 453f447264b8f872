import fc from 'fast-check';
import { anOrganization } from '@customer-platform/testing';
import { Cursors, parseListRequest, type ListDefinition, type Page } from '@customer-platform/http';
import { newId, pageOfOwners, type Transaction } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

interface Part {
  id: string;
  widget_id: string;
  made_at: Date;
}

/** A node of a plan, as far as the test looks at it. */
interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

const LIST: ListDefinition = {
  resource: 'parts',
  defaultSort: '-made_at',
  timelineSource: { occurredAt: 'made_at' },
  filters: { made_at: { type: 'time', column: 'made_at' } },
  sorts: { made_at: { type: 'time', column: 'made_at' } },
};
const cursors = new Cursors('a secret of at least thirty-two characters');
const partsOf = (widget: string): string =>
  `SELECT id, widget_id, made_at FROM parts WHERE organization_id = $1 AND widget_id = ${widget}`;

describe('pageOfOwners', () => {
  let world: WidgetWorld;
  beforeAll(async () => {
    world = await aWidgetWorld();
  });
  afterAll(() => world.close());

  const page = (
    tx: Transaction,
    owners: readonly string[],
    query: Record<string, string>,
  ): Promise<Page<Part>> => {
    const parameters = Object.entries(query).map(([name, value]) => ({ name, value }));
    const request = parseListRequest(LIST, parameters, tx.organizationId, cursors);
    return pageOfOwners<Part>(tx, partsOf, owners, request, { parameters: [tx.organizationId] });
  };
  const fill = async (tx: Transaction, count: number): Promise<string[]> => {
    const widgets = Array.from({ length: count }, () => newId());
    await tx.query(
      `INSERT INTO widgets (organization_id, id, name, created_at, updated_at)
       SELECT $1, id, id::text, now(), now() FROM unnest($2::uuid[]) AS id`,
      [tx.organizationId, widgets],
    );
    return widgets;
  };
  const add = (tx: Transaction, parts: readonly { widget: string; at: number }[]): Promise<unknown> =>
    tx.query(
      `INSERT INTO parts (organization_id, id, widget_id, made_at)
       SELECT $1, gen_random_uuid(), widget, 'epoch'::timestamptz + at * interval '1 ms'
         FROM unnest($2::uuid[], $3::int[]) AS part (widget, at)`,
      [tx.organizationId, parts.map(({ widget }) => widget), parts.map(({ at }) => at)],
    );
  const walk = async (
    tx: Transaction,
    owners: readonly string[],
    query: Record<string, string>,
  ): Promise<Part[]> => {
    const parts: Part[] = [];
    let cursor: string | null = null;
    do {
      const next: Page<Part> = await page(tx, owners, { ...query, ...(cursor ? { cursor } : {}) });
      parts.push(...next.data);
      cursor = next.page.next_cursor;
    } while (cursor);
    return parts;
  };

  it('walks the rows of the owners that are asked for, in one order, each once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ owner: fc.integer({ min: 0, max: 3 }), at: fc.integer({ min: 0, max: 3 }) }), {
          maxLength: 14,
        }),
        fc.subarray([0, 1, 2, 3]),
        fc.constantFrom('-made_at', 'made_at'),
        fc.integer({ min: 1, max: 6 }),
        async (parts, asked, sort, limit) => {
          await world.database.inOrganization({ organizationId: anOrganization().id }, async (tx) => {
            const widgets = await fill(tx, 4);
            const widgetOf = (at: number): string => widgets[at] ?? '';
            await add(
              tx,
              parts.map(({ owner, at }) => ({ widget: widgetOf(owner), at })),
            );
            const owners = asked.map(widgetOf);
            const rows = await tx.query<Part>(
              `SELECT id, widget_id, made_at FROM parts WHERE widget_id = ANY($1::uuid[])
                ORDER BY made_at DESC, id DESC`,
              [owners],
            );
            const walked = await walk(tx, owners, { sort, limit: String(limit) });
            expect(walked).toEqual(sort === 'made_at' ? rows.reverse() : rows);
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('goes on before a pair of time and id, and takes an owner that is named twice once', async () => {
    await world.database.inOrganization({ organizationId: anOrganization().id }, async (tx) => {
      const [one = '', other = ''] = await fill(tx, 2);
      await add(
        tx,
        [0, 1, 2, 3].flatMap((at) => [one, other].map((widget) => ({ widget, at }))),
      );
      const all = (await page(tx, [one, other, one], {})).data;
      expect(all).toHaveLength(8);
      const [, , third] = all;
      const before = { before_occurred_at: third?.made_at.toISOString() ?? '', before_id: third?.id ?? '' };
      expect((await page(tx, [one, other], before)).data).toEqual(all.slice(3));
    });
  });

  it('reads a row of each of twenty owners beside those that it shows, however many they have', async () => {
    await world.database.inOrganization({ organizationId: anOrganization().id }, async (tx) => {
      const widgets = await fill(tx, 20);
      await add(
        tx,
        widgets.flatMap((widget) => Array.from({ length: 200 }, (_, at) => ({ widget, at }))),
      );
      const plans: PlanNode[] = [];
      const explaining: Transaction = Object.create(tx, {
        query: {
          value: async (sql: string, values: unknown[]) => {
            const [row] = await tx.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
              `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
              values,
            );
            plans.push(...(row?.['QUERY PLAN'] ?? []).map(({ Plan }) => Plan));
            return [];
          },
        },
      }) as Transaction;
      await page(explaining, widgets, { limit: '50' });
      const read = plans
        .flatMap(scans)
        .reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
      expect(read).toBeGreaterThanOrEqual(51);
      expect(read).toBeLessThanOrEqual(51 + widgets.length);
    });
  });
});

/** What reads a table. */
function scans(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(scans);
  return /^(Index|Index Only|Seq|Bitmap Heap) Scan$/.test(node['Node Type']) ? [node, ...below] : below;
}
