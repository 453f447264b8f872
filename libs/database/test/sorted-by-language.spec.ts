import { anOrganization, explained, rowsRead, type PlanNode } from '@customer-platform/testing';
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
}

const LIST: ListDefinition = {
  resource: 'widgets',
  defaultSort: 'name',
  filters: {},
  sorts: { name: { type: 'string', column: 'name', byLanguage: true } },
};
const NAMES = [
  'Zúñiga',
  'Ñ',
  'Oso',
  'Álvarez',
  'nz',
  'alvarez',
  'ávila',
  'Nube',
  'Alvarez',
  'ñandú',
  'Álvarez',
];
const IN_ROOT = [
  'alvarez',
  'Alvarez',
  'Álvarez',
  'Álvarez',
  'ávila',
  'Ñ',
  'ñandú',
  'Nube',
  'nz',
  'Oso',
  'Zúñiga',
];
const IN_SPANISH = [
  'alvarez',
  'Alvarez',
  'Álvarez',
  'Álvarez',
  'ávila',
  'Nube',
  'nz',
  'Ñ',
  'ñandú',
  'Oso',
  'Zúñiga',
];
const SELECT = 'SELECT id, name FROM widgets WHERE organization_id = $1';
const cursors = new Cursors('a secret of at least thirty-two characters');

describe('text that is sorted by language', () => {
  let world: WidgetWorld;
  beforeAll(async () => {
    world = await aWidgetWorld();
  });
  afterAll(() => world.close());

  const asked = (organizationId: string, locale: string, query: Record<string, string>): ListQuery => {
    const parameters = Object.entries(query).map(([name, value]) => ({ name, value }));
    return parseListRequest(LIST, parameters, organizationId, cursors, locale);
  };
  const page = (organizationId: string, query: ListQuery): Promise<Page<Row>> =>
    world.database.inOrganization({ organizationId }, (tx) =>
      pageOf<Row>(tx, SELECT, query, { parameters: [organizationId] }),
    );
  const organizationWith = async (names: readonly string[]): Promise<string> => {
    const organizationId = anOrganization().id;
    await world.test.query(
      `INSERT INTO widgets (organization_id, id, name, created_at, updated_at, deleted_at)
       SELECT $1, id, name, now(), now(), now() FROM unnest($2::uuid[], $3::text[]) AS r (id, name)`,
      [organizationId, names.map(() => newId()), names],
    );
    return organizationId;
  };
  const walk = async (organizationId: string, locale: string, sort: string): Promise<Row[]> => {
    const rows: Row[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string> = { sort, limit: '2', ...(cursor === null ? {} : { cursor }) };
      const read: Page<Row> = await page(organizationId, asked(organizationId, locale, query));
      rows.push(...read.data);
      cursor = read.page.next_cursor;
    } while (cursor !== null);
    return rows;
  };

  it.each([
    ['en', IN_ROOT],
    ['es-CL', IN_SPANISH],
  ])('stands in the order of %s on every page, in both directions', async (locale, expected) => {
    const organizationId = await organizationWith(NAMES);
    const up = await walk(organizationId, locale, 'name');
    expect(up.map(({ name }) => name)).toEqual(expected);
    expect(await walk(organizationId, locale, '-name')).toEqual(up.toReversed());
  });

  it('goes on in the order in which the walk began', async () => {
    const organizationId = await organizationWith(NAMES);
    const first = await page(organizationId, asked(organizationId, 'es', { limit: '6' }));
    const cursor = first.page.next_cursor ?? '';
    const rest = await page(organizationId, asked(organizationId, 'en', { cursor }));
    expect([...first.data, ...rest.data].map(({ name }) => name)).toEqual(IN_SPANISH);
  });

  it('goes on by bytes with a cursor of a release that sorted so', async () => {
    const organizationId = await organizationWith(NAMES);
    const plain = { ...LIST, sorts: { name: { type: 'string', column: 'name' } } } as const;
    const former = parseListRequest(plain, [{ name: 'limit', value: '4' }], organizationId, cursors);
    const first = await page(organizationId, former);
    const cursor = first.page.next_cursor ?? '';
    const rest = await page(organizationId, asked(organizationId, 'es', { cursor }));
    const whole = await page(organizationId, parseListRequest(plain, [], organizationId, cursors));
    expect([...first.data, ...rest.data]).toEqual(whole.data);
  });

  it('refuses a cursor of another version of the collation', async () => {
    const organizationId = await organizationWith(NAMES);
    const cursor = asked(organizationId, 'es', {}).cursorFor(['Nube', newId()], '1.0');
    await expect(page(organizationId, asked(organizationId, 'es', { cursor }))).rejects.toMatchObject({
      code: 'cursor_mismatch',
      errors: [{ parameter: 'cursor', code: 'cursor_mismatch' }],
    });
  });

  it.each(['en', 'es'])(
    'is read from the index of its collation (%s), as far as the page goes',
    async (locale) => {
      const organizationId = await organizationWith(
        Array.from({ length: 3_000 }, (_, at) => `Álvarez ${String(at)}`),
      );
      await world.test.query('ANALYZE widgets');
      const first = await page(organizationId, asked(organizationId, locale, { limit: '5' }));
      const cursor = first.page.next_cursor ?? '';
      const plans: PlanNode[] = [];
      await world.database.inOrganization({ organizationId }, (tx) =>
        pageOf<Row>(
          explained(tx, /page_key_0/, (plan) => plans.push(plan)),
          SELECT,
          asked(organizationId, locale, { limit: '5', cursor }),
          { parameters: [organizationId] },
        ),
      );
      expect(plans.map((plan) => rowsRead(plan, 'widgets'))).toEqual([6]);
    },
  );
});
