import { randomUUID } from 'node:crypto';
import { referencesToOrganization } from '@customer-platform/database';
import {
  anOrganization,
  COUNTED,
  expectTenantTablesListed,
  NOBODY,
  PlantedRows,
  testDatabase,
  type TenantTables,
  type TestDatabase,
} from '../src/index.js';
import { WIDGET_MIGRATIONS } from './widgets.module.js';

const WIDGETS: TenantTables[string] = {
  erased: 'name',
  kept: { 'widget.entity.ts: what it weighs': 'weight' },
  technical: { 'widget.entity.ts: the row and its times': 'id created_at updated_at deleted_at' },
  organization: COUNTED,
  archive: { as: 'widgets', withheld: { 'of no person': 'id weight created_at updated_at deleted_at' } },
  removed: 'stays: until it is purged',
};

const ARCHIVED = [
  { resource: 'widgets', from: 'widgets AS own', columns: ['own.name'], where: 'true', order: [] },
];

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('loyalty', WIDGET_MIGRATIONS);
});
afterAll(() => database.drop());

/** Holds the tables against lists that differ from the right ones in one thing. */
const listed = (
  widgets: Partial<TenantTables[string]> = {},
  module: { counted?: string[]; archived?: typeof ARCHIVED; tables?: TenantTables } = {},
): Promise<void> =>
  expectTenantTablesListed(database, {
    tables: { widgets: { ...WIDGETS, ...widgets } },
    sources: import.meta.dirname,
    counted: referencesToOrganization([{ table: 'widgets' }]),
    archived: ARCHIVED,
    ...module,
  });

describe('lists of tables and columns', () => {
  it('are whole where every column stands on exactly one', () => listed());

  it.each([
    ['a column that stands nowhere', { erased: '' }, 'widgets: name is on no list'],
    ['one that stands twice', { erased: 'name weight' }, 'widgets: weight is listed twice'],
    ['one that is not there', { erased: 'name height' }, 'widgets: height is listed and not there'],
    [
      'a reader that does not read it',
      { kept: { 'libs/testing/src/totp-code.ts: what it weighs': 'weight' } },
      'widgets: libs/testing/src/totp-code.ts does not read weight',
    ],
    [
      'a reason without a reader',
      { kept: { 'what it weighs': 'weight' } },
      'widgets: \\"what it weighs\\" does not begin with a file that reads it',
    ],
    [
      'a column that no archive gives',
      { archive: { as: 'widgets' } },
      "widgets: weight is neither in the archive's widgets nor withheld",
    ],
    ['a resource that is none', { archive: { as: 'things' } }, 'widgets: no archive gives things'],
    ['an archive that gives it all the same', { archive: NOBODY }, 'widgets: an archive gives it'],
    [
      'an organization that it keeps all the same',
      { organization: 'it is empty' },
      'widgets: \\"it is empty\\", and it is counted before a purge',
    ],
    [
      'a remover that does not remove',
      { removed: 'by widget.entity.ts' },
      'widgets: widget.entity.ts does not remove its rows',
    ],
    [
      'no word of who removes it',
      { removed: '' },
      'widgets: \\"\\" says neither who removes it nor why it stays',
    ],
  ])('are refused for %s', async (_, widgets, finding) => {
    await expect(listed(widgets)).rejects.toThrow(finding);
  });

  it('are refused for a table that is on none, or is not there', async () => {
    await expect(listed({}, { tables: {} })).rejects.toThrow('widgets: is on no list');
    const tables = { widgets: WIDGETS, wodgets: WIDGETS };
    await expect(listed({}, { tables })).rejects.toThrow('wodgets: is listed, and not in the database');
  });

  it('are refused for a table that says it is counted and is not', async () => {
    await expect(listed({}, { counted: [] })).rejects.toThrow('and it is not counted before a purge');
  });

  it('are refused until a new column is on one', async () => {
    await database.query('ALTER TABLE widgets ADD COLUMN nickname text');
    await expect(listed()).rejects.toThrow('widgets: nickname is on no list');
    await database.query('ALTER TABLE widgets DROP COLUMN nickname');
  });
});

describe('planted rows', () => {
  const planted = (erased: string): Promise<PlantedRows> =>
    PlantedRows.of(database, {
      organizationId: anOrganization().id,
      contactId: randomUUID(),
      tables: { widgets: { ...WIDGETS, erased } },
      rows: {},
    });

  it('tell which columns still have what was planted', async () => {
    const rows = await planted('name weight');
    expect(await rows.left()).toEqual(expect.arrayContaining(['widgets.name', 'widgets.weight']));
    await database.query("UPDATE widgets SET name = 'nobody'");
    expect(await rows.left()).not.toContain('widgets.name');
    await database.query('DELETE FROM widgets');
    expect((await rows.left()).filter((column) => column.startsWith('widgets'))).toEqual([]);
  });

  it('are refused where nothing could be planted', async () => {
    const tables = { widgets: { ...WIDGETS, erased: 'name' } };
    const person = { organizationId: anOrganization().id, contactId: randomUUID(), tables };
    await expect(PlantedRows.of(database, { ...person, rows: { widgets: 'there' } })).rejects.toThrow(
      'Nothing was planted in widgets.name',
    );
  });
});
