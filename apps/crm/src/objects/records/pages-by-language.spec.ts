import { Database, newId } from '@customer-platform/database';
import { Cursors, parseListRequest, type ListDefinition, type ListQuery } from '@customer-platform/http';
import { explained, rowsRead, type PlanNode } from '@customer-platform/testing';
import fc from 'fast-check';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import type { ObjectField } from '../../fields/field.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import { KnownDefinitions } from '../definitions/known-definitions.js';
import { ObjectWorld } from '../objects.fixture.js';
import { boundsByLanguage } from './language-bounds.js';
import { recordsListOf } from './object-records.list.js';
import { Places } from './page-parts.js';
import { pageOfRecords } from './record-pages.js';

const CURSORS = new Cursors('c'.repeat(32));
const NAMES = { key: 'name', type: 'string', indexed: true };

let crm: TestCrm;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  world = new ObjectWorld(crm);
});

type Query = Readonly<Record<string, string>>;
const read = (definition: ListDefinition, query: Query, cursor?: string): ListQuery =>
  parseListRequest(
    definition,
    Object.entries({ ...query, ...(cursor === undefined ? {} : { cursor }) }).map(([name, value]) => ({
      name,
      value,
    })),
    world.organizationId,
    CURSORS,
    'es',
  );

/** The list as releases had it that sorted by bytes. */
function formerListOf(definition: KnownDefinition): ListDefinition {
  const list = recordsListOf(definition);
  const sorts = Object.entries(list.sorts).map(([name, { byLanguage: _, ...sort }]) => [name, sort] as const);
  return { ...list, sorts: Object.fromEntries(sorts) };
}

interface Shown {
  readonly names: unknown[];
  readonly next: string | undefined;
  /** Rows of texts that the page itself read; where it would have ended is read beside it. */
  readonly looked: number;
}

async function page(read: (definition: KnownDefinition) => ListQuery): Promise<Shown> {
  return crm.app.app.get(Database).inOrganization({ organizationId: world.organizationId }, async (tx) => {
    const definition = await crm.app.app.get(KnownDefinitions).find(tx, 'person');
    if (!definition) throw new Error('The definition is gone');
    const plans: PlanNode[] = [];
    const looking = explained(tx, /page_place/, (plan) => plans.push(plan));
    const found = await pageOfRecords(looking, definition, read(definition));
    const looked = plans.flatMap(pagesOf).reduce((sum, plan) => sum + rowsRead(plan, 'object_texts'), 0);
    const names = found.data.map(({ values }) => values['name'] ?? null);
    return { names, next: found.page.next_cursor ?? undefined, looked };
  });
}

function pagesOf(plan: PlanNode & { readonly 'Subplan Name'?: string }): PlanNode[] {
  return plan['Subplan Name'] === 'CTE page' ? [plan] : (plan.Plans ?? []).flatMap(pagesOf);
}

/** Half of them Álvarez, half Zúñiga. */
async function withManyPeople(): Promise<void> {
  const { id } = await world.define('person', [NAMES]);
  await crm.database.query(
    `WITH records AS (
       INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2,
              jsonb_build_object('name', (CASE WHEN n % 2 = 0 THEN 'Álvarez ' ELSE 'Zúñiga ' END) || lpad(n::text, 4, '0')),
              now(), now() FROM generate_series(1, 3000) AS n RETURNING id, "values")
     INSERT INTO object_texts (organization_id, definition_id, number, value, record_id, live)
     SELECT $1, $2, (indexes->0->>'number')::int, '=' || (records."values"->>'name'), records.id, true
       FROM records, object_definitions AS definition WHERE definition.organization_id = $1 AND definition.id = $2`,
    [world.organizationId, id],
  );
  await crm.database.query(
    `INSERT INTO object_tallies (organization_id, definition_id, shard, records, active, held, active_held)
     VALUES ($1, $2, 0, 3000, 3000, '{"name": 3000}', '{"name": 3000}')`,
    [world.organizationId, id],
  );
  await crm.database.query('ANALYZE object_records, object_texts');
}

describe('a page of records by the texts of a field', () => {
  it.each<[Query, unknown[]]>([
    [{ sort: 'values.name' }, ['Álvarez 0002', 'Álvarez 0004', 'Álvarez 0006', 'Álvarez 0008']],
    [{ sort: '-values.name' }, ['Zúñiga 2999', 'Zúñiga 2997', 'Zúñiga 2995', 'Zúñiga 2993']],
    [
      { sort: 'values.name', 'values.name[prefix]': 'Zú' },
      ['Zúñiga 0001', 'Zúñiga 0003', 'Zúñiga 0005', 'Zúñiga 0007'],
    ],
    [
      { sort: '-values.name', 'values.name[prefix]': 'Á' },
      ['Álvarez 3000', 'Álvarez 2998', 'Álvarez 2996', 'Álvarez 2994'],
    ],
  ])('reads the index of the collation as far as it goes: %j', async (query, expected) => {
    await withManyPeople();
    const asked = { ...query, limit: '2' };
    const first = await page((definition) => read(recordsListOf(definition), asked));
    const second = await page((definition) => read(recordsListOf(definition), asked, first.next));
    expect([...first.names, ...second.names]).toEqual(expected);
    expect([first.looked, second.looked]).toEqual([3, 3]);
  });

  it('goes on by bytes after a cursor of a release that sorted so, which refuses those of this one', async () => {
    await world.define('person', [NAMES]);
    for (const name of ['Zúñiga', 'Álvarez', 'alvarez', null, 'Soto', 'Álvarez'])
      await world.add('person', { name });
    const query = { sort: 'values.name', limit: '2' };
    let shown = await page((definition) => read(formerListOf(definition), query));
    const names = [...shown.names];
    while (shown.next !== undefined) {
      const { next } = shown;
      shown = await page((definition) => read(recordsListOf(definition), query, next));
      names.push(...shown.names);
    }
    expect(names).toEqual(['Soto', 'Zúñiga', 'alvarez', 'Álvarez', 'Álvarez', null]);
    const { next } = await page((definition) => read(recordsListOf(definition), query));
    const refused = page((definition) => read(formerListOf(definition), query, next));
    await expect(refused).rejects.toMatchObject({ code: 'cursor_mismatch' });
  });

  it('goes on in the language in which it began', async () => {
    await world.define('person', [NAMES]);
    for (const name of ['Nuñez', 'Nunz']) await world.add('person', { name });
    const query = { sort: 'values.name', limit: '1' };
    const first = await page((definition) => read(recordsListOf(definition), query));
    expect(first.names).toEqual(['Nunz']);
    const second = await page((definition) => {
      const list = recordsListOf(definition);
      const parameters = Object.entries({ ...query, cursor: first.next ?? '' });
      const given = parameters.map(([name, value]) => ({ name, value }));
      return parseListRequest(list, given, world.organizationId, CURSORS, 'en');
    });
    expect(second.names).toEqual(['Nuñez']);
  });

  it('400 cursor_mismatch for a cursor of another version of the collation', async () => {
    await world.define('person', [NAMES]);
    const query = { sort: 'values.name' };
    const refused = page((definition) => {
      const list = recordsListOf(definition);
      return read(list, query, read(list, query).cursorFor(['=Soto', newId()], '1.0'));
    });
    await expect(refused).rejects.toMatchObject({ code: 'cursor_mismatch' });
  });
});

describe('the bounds of a prefix in the order of a language', () => {
  const LETTERS = [
    ...'aAáÁbnNñÑlz·0-. ßæЖжй',
    '\u0301',
    '\u0303',
    '\u0323',
    '\uFFFF',
    '😀',
    'กเ',
    'Ω',
    '\u200D',
  ];
  const text = fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 8 });
  const field = { key: 'name', type: 'string' } as unknown as ObjectField;

  it.each(['text_es', 'text_root'] as const)('hold all that begins with it, in %s', async (collation) => {
    const pairs = fc.array(fc.tuple(text, text), { minLength: 20, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, pairs, async (value, among) => {
        const places = new Places(newId(), newId());
        const filter = {
          field: '',
          op: 'prefix',
          column: '',
          type: 'string',
          value,
          values: [value],
        } as const;
        const bounds = boundsByLanguage([filter], { field, collation, begun: undefined }, places);
        const texts = among.map(([left, right]) => `=${(value + left + right).normalize('NFC')}`);
        const given = places.add(texts, 'text[]');
        const begins = places.add(`=${value.normalize('NFC')}`, 'text');
        const missed = await crm.database.query(
          `SELECT own.value FROM unnest(${given}) AS own (value)
            WHERE $1::text <> $2::text AND own.value ^@ ${begins} AND NOT (${['true', ...bounds].join(' AND ')})`,
          places.values,
        );
        expect(missed).toEqual([]);
      }),
    );
  });
});
