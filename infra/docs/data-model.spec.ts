import type { Schemas, Table } from '../local/platform/schemas.ts';
import { dataModelPages, partsOf } from './data-model.ts';
import { SHARED_TABLES, TABLES } from './table-meanings.ts';

const aTable = (name: string, over: Partial<Table> = {}): Table => ({
  name,
  columns: [
    { name: 'organization_id', type: 'uuid', nullable: false },
    { name: 'id', type: 'uuid', nullable: false },
  ],
  primaryKey: ['organization_id', 'id'],
  unique: [],
  foreignKeys: [],
  ...over,
});

/** Every table that has a meaning, and TypeORM's own. */
const schemas = (): Schemas => ({
  identity: [],
  core: [],
  loyalty: [],
  messaging: [],
  crm: [],
  ...Object.fromEntries(
    Object.entries(TABLES).map(([module, tables]) => [
      module,
      ['migrations', ...Object.keys(tables), ...Object.keys(SHARED_TABLES)].map((name) => aTable(name)),
    ]),
  ),
});

describe('the data model', () => {
  it('shows a table that the libraries make once, however many modules have it', () => {
    const parts = new Map(partsOf(schemas()).map(({ name, tables }) => [name, tables.map((t) => t.name)]));
    expect([...parts.keys()]).toEqual(['core', 'crm', 'identity', 'loyalty', 'messaging', 'platform']);
    expect(parts.get('platform')).toEqual(Object.keys(SHARED_TABLES).sort());
    expect(parts.get('crm')).toEqual(Object.keys(TABLES['crm'] ?? {}));
  });

  it('refuses a shared table that modules have differently', () => {
    const changed = schemas();
    changed.crm = changed.crm.map((table) =>
      table.name === 'outbox' ? aTable('outbox', { unique: ['(id)'] }) : table,
    );
    expect(() => partsOf(changed)).toThrow('Not alike in all modules: outbox');
  });

  it('refuses a table that nobody has explained, and an explanation without its table', () => {
    const more = schemas();
    more.crm = [...more.crm, aTable('tags')];
    expect(() => dataModelPages(more)).toThrow("what a row of crm's table tags is");
    const fewer = schemas();
    fewer.crm = fewer.crm.filter(({ name }) => name !== 'notes');
    expect(() => dataModelPages(fewer)).toThrow('names no table: crm.notes');
  });

  it('draws keys and references, and lists columns', () => {
    const drawn = schemas();
    const member = aTable('list_members', {
      columns: [...aTable('').columns, { name: 'list_id', type: 'uuid', nullable: true }],
      unique: ['(organization_id, list_id)'],
      foreignKeys: [{ columns: ['organization_id', 'list_id'], target: 'lists' }],
      partitions: 'HASH (organization_id) in 16',
    });
    drawn.crm = drawn.crm.map((table) => (table.name === 'list_members' ? member : table));
    const page = dataModelPages(drawn).get('crm.md') ?? '';
    expect(page).toContain('  lists |o--o{ list_members : "list_id"');
    expect(page).toContain('    uuid list_id FK');
    expect(page).toContain('| `list_id` | uuid | yes |');
    expect(page).toContain('- `organization_id`, `list_id` → `lists`.');
    expect(page).toContain('- Partitions: HASH (organization_id) in 16.');
    expect(page).toContain('A contact in a list.');
  });
});
