import { anOrganization, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { OBJECTS, OBJECT_PERMISSIONS, ObjectWorld } from '../objects.fixture.js';
import type { ObjectRecordDto } from './object-record.dto.js';

interface RecordPage {
  data: ObjectRecordDto[];
  page: { next_cursor: string | null };
}

const FIELDS = [
  { key: 'name', type: 'string', indexed: true },
  { key: 'fuel', type: 'enum', options: [{ value: 'lpg' }, { value: 'Gas' }], indexed: true },
];
const NAMES = [
  'Zúñiga',
  'Nuñez',
  'alvarez',
  'ñandú',
  'Álvarez',
  null,
  'ávila',
  'Ñ',
  'Nunz',
  'Alvarez',
  'Álvarez',
];
const SPANISH = [
  'alvarez',
  'Alvarez',
  'Álvarez',
  'Álvarez',
  'ávila',
  'Nunz',
  'Nuñez',
  'Ñ',
  'ñandú',
  'Zúñiga',
  null,
];
const ROOT = [
  'alvarez',
  'Alvarez',
  'Álvarez',
  'Álvarez',
  'ávila',
  'Ñ',
  'ñandú',
  'Nuñez',
  'Nunz',
  'Zúñiga',
  null,
];

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());

function aWorld(locale: string): ObjectWorld {
  const app = {
    as: (organizationId: string) =>
      crm.app.as(organizationId, Object.values(OBJECT_PERMISSIONS), { locale, timezone: 'America/Santiago' }),
  };
  return new ObjectWorld(crm, anOrganization().id, app);
}

async function walk({ caller }: ObjectWorld, query: string, limit: number): Promise<ObjectRecordDto[]> {
  const walked: ObjectRecordDto[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path: string = `${OBJECTS}/person?${query}&limit=${String(limit)}${cursor && `&cursor=${cursor}`}`;
    const answer = await caller.get<RecordPage>(path);
    expectStatus(answer, 200);
    walked.push(...answer.body.data);
    cursor = answer.body.page.next_cursor;
  }
  return walked;
}
const namesOf = (records: readonly ObjectRecordDto[]): unknown[] =>
  records.map(({ values }) => values['name']);

describe('GET /v1/crm/objects/{slug}?sort=values.<text>', () => {
  describe.each([
    ['es-CL', SPANISH],
    ['en', ROOT],
  ])('in %s', (locale, expected) => {
    it('walks by its alphabet, one by one, up and down', async () => {
      const world = aWorld(locale);
      await world.define('person', FIELDS);
      for (const name of NAMES) await world.add('person', { name, fuel: 'lpg' });
      const up = await walk(world, 'sort=values.name', 1);
      expect(namesOf(up)).toEqual(expected);
      const down = await walk(world, 'sort=-values.name', 1);
      const named = up.filter(({ values }) => values['name'] !== null);
      expect(down.map(({ id }) => id)).toEqual([
        ...named.map(({ id }) => id).toReversed(),
        ...up.slice(named.length).map(({ id }) => id),
      ]);
      expect(await walk(world, 'sort=values.name&values.fuel=lpg', 2)).toEqual(up);
      expect(await walk(world, 'sort=-values.name&values.fuel=lpg', 2)).toEqual(down);
      expect(await walk(world, 'sort=values.name&values.name[is_null]=false', 2)).toEqual(named);
      expect(await walk(world, 'sort=values.name&values.name[is_null]=true', 2)).toEqual(
        up.slice(named.length),
      );
    });
  });

  it.each([
    ['values.name[prefix]=N', ['Nunz', 'Nuñez']],
    ['values.name[in]=Zúñiga,alvarez,Álvarez', ['alvarez', 'Álvarez', 'Álvarez', 'Zúñiga']],
    ['values.name=Álvarez', ['Álvarez', 'Álvarez']],
    ['values.name[prefix]=', SPANISH.slice(0, -1)],
    ['values.name[prefix]=N&values.name[in]=Nunz,Zúñiga', ['Nunz']],
    ['values.name[prefix]=N&values.name[is_null]=true', []],
  ])('of those that a filter of the same field lets through, few and many: %s', async (filter, expected) => {
    const world = aWorld('es');
    await world.define('person', FIELDS);
    for (const name of NAMES) await world.add('person', { name, fuel: 'lpg' });
    for (const [sort, order] of [
      ['values.name', expected],
      ['-values.name', expected.toReversed()],
    ] as const) {
      expect(namesOf(await walk(world, `sort=${sort}&${filter}`, 2))).toEqual(order);
      // As if there were no records: then none are few.
      await crm.database.query('UPDATE object_tallies SET records = 0 WHERE organization_id = $1', [
        world.organizationId,
      ]);
      expect(namesOf(await walk(world, `sort=${sort}&${filter}`, 2))).toEqual(order);
      expect(namesOf(await walk(world, `sort=${sort}&${filter}&values.fuel=lpg`, 1))).toEqual(order);
    }
  });

  it('leaves enums, which are codes, in the order of bytes', async () => {
    const world = aWorld('es');
    await world.define('person', FIELDS);
    for (const fuel of ['lpg', 'Gas', 'lpg']) await world.add('person', { name: fuel, fuel });
    expect(namesOf(await walk(world, 'sort=values.fuel', 1))).toEqual(['Gas', 'lpg', 'lpg']);
  });
});
