import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS, LIFECYCLE } from '@customer-platform/events';
import { PERMISSIONS } from '@customer-platform/permissions';
import { parseField } from './field.ts';
import { GeneratedWorkspace } from './generated-workspace.fixture.ts';
import { describeResource, type Contract, type Resource } from './resource.ts';
import { countedFile, countedWith, migrationsWith, moduleWith, tablesWith, wiringOf } from './wiring.ts';
import { writeResource } from './write-resource.ts';

const AT = Date.UTC(2027, 0, 1);
const fieldsOf = (...texts: string[]) => texts.map(parseField);

/** Stated in the workspace's copy of the contract libraries only, so that no app ever has them. */
const ACTIONS = ['create', 'delete', 'purge', 'read', 'update'];
const PERMISSIONS_OF_WIDGETS = ACTIONS.map((action) => `crm.widgets.${action}`);
const PERMISSIONS_OF_SPARE_PARTS = ACTIONS.map((action) => `crm.spare_parts.${action}`);
const CONTRACT: Contract = {
  permissions: [...PERMISSIONS, ...PERMISSIONS_OF_WIDGETS, ...PERMISSIONS_OF_SPARE_PARTS],
  events: {
    ...EVENTS,
    ...Object.fromEntries(
      LIFECYCLE.map((verb) => [`crm.widget.${verb}.v1`, EVENTS['crm.activity_type.created.v1']]),
    ),
  },
};

/** Every type and every word that a field can have, and events. */
const widgets = (): Resource =>
  describeResource(
    'crm',
    'widgets',
    fieldsOf(
      'key:string:40:unique:immutable',
      'name:string:60',
      'archived:boolean',
      'rank:integer',
      'valid_to:time:optional',
      'short_note:string:5:optional',
    ),
    AT,
    CONTRACT,
  );

/** As little as that, and a unique value that can be changed. */
const spareParts = (): Resource =>
  describeResource(
    'crm',
    'spare-parts',
    fieldsOf('text:string:5000', 'code:string:3:unique'),
    AT + 1,
    CONTRACT,
  );

describe('the words for a resource', () => {
  it.each([
    ['Name:string:5', 'snake_case'],
    ['created_at:time', 'has created_at already'],
    ['name:text', 'string, integer, boolean, time'],
    ['name:string', 'how many characters'],
    ['name:string:0', 'how many characters'],
    ['name:string:5:uniqe', '"uniqe" is none of'],
    ['rank:integer:unique', 'only a string'],
    ['name:string:5:optional:unique', 'only a string'],
  ])('%s is refused', (text, reason) => {
    expect(() => parseField(text)).toThrow(reason);
  });

  it.each([
    ['activity-type', ['name:string:5'], 'plural in kebab-case'],
    ['activity-types', ['name:string:5', 'name:boolean'], 'named twice'],
    ['activity-types', ['a:string:5:unique', 'b:string:5:unique'], 'At most one'],
    ['activity-types', ['name:string:5:immutable'], 'can be changed'],
    ['object-definitions', ['name:string:5'], 'libs/permissions does not know crm.object_definitions.create'],
    ['notes', ['body:string:5'], 'crm.note events carry contact_id'],
  ])('%s with %j is refused', (plural, fields, reason) => {
    expect(() => describeResource('crm', plural, fieldsOf(...fields), AT)).toThrow(reason);
  });
});

describe('the apps', () => {
  it.each(['core', 'crm', 'identity', 'loyalty', 'messaging'])('%s can take a new resource', (module) => {
    const app = join(import.meta.dirname, '../../apps', module);
    const feature = { module: 'WidgetsModule', entity: 'Widget', folder: 'widgets', entityFile: 'widget' };
    const text = moduleWith(join(app, `src/${module}.module.ts`), feature);
    expect(text).toMatch(/imports: \[[^\]]*forRoot[\s\S]*, WidgetsModule/);
    expect(text).toMatch(/entities: \[[^\]]*\bWidget\]/);
    const { migrationsFile, migrationsName } = wiringOf(app, module);
    const list = migrationsWith(join(app, `src/migrations/${migrationsFile}.ts`), {
      name: 'CreateWidgets1',
      file: '1-create-widgets',
    });
    expect(list).toMatch(new RegExp(`${migrationsName}\\b[^;]*CreateWidgets1,?\\s*\\]`));
    const tables = tablesWith(join(app, 'src/tenant-tables.fixture.ts'), 'widgets: {}');
    expect(tables).toMatch(/\}, widgets: \{\},?\s*\};/);
    for (const name of ['COUNTED', 'NOBODY']) expect(tables).toMatch(new RegExp(`import .*\\b${name}\\b`));
    expect(countedWith(join(app, 'src', countedFile(app)), 'widgets')).toMatch(/\bwidgets\b/);
  });
});

describe('a generated resource', () => {
  const workspace = new GeneratedWorkspace('crm');
  const written: string[] = [];
  beforeAll(async () => {
    const permissions = [...PERMISSIONS_OF_WIDGETS, ...PERMISSIONS_OF_SPARE_PARTS];
    workspace.addLines(
      'libs/permissions/src/crm.permissions.ts',
      'export const crmPermissions = {',
      permissions.map((permission) => `  '${permission}': 'Try the generator',`),
    );
    workspace.addLines('libs/events/src/crm.events.ts', 'export const CRM_EVENTS = {', [
      `  ...family('crm.widget', LIFECYCLE, 'id', 'Widget', z.object({ id, changed })),`,
    ]);
    for (const resource of [widgets(), spareParts()])
      written.push(...(await writeResource(workspace.app, resource)));
  });
  afterAll(() => {
    workspace.discard();
  });
  const paths = (): string[] => written.map((file) => join(workspace.app, file));

  it('is written whole, and never over what is there', async () => {
    for (const path of paths()) expect(existsSync(path)).toBe(true);
    const before = paths().map((path) => readFileSync(path, 'utf8'));
    await expect(writeResource(workspace.app, widgets())).rejects.toThrow('is there already');
    expect(paths().map((path) => readFileSync(path, 'utf8'))).toEqual(before);
  });

  it('has the right types', async () => {
    await workspace.run('typescript-native/bin/tsc', '-b', 'apps/crm');
  }, 120_000);

  it('keeps the conventions', async () => {
    await workspace.run('eslint/bin/eslint.js', '--max-warnings=0', ...paths());
    await workspace.run('prettier/bin/prettier.cjs', '--check', ...paths());
  }, 120_000);

  it('passes its own tests and those of the migrations, on real servers', async () => {
    const folders = ['widgets/', 'spare-parts/', 'migrations/', 'tenant-tables.spec.ts'].map(
      (path) => `apps/crm/src/${path}`,
    );
    const output = await workspace.run('jest/bin/jest.js', '--ci', ...folders);
    expect(output).toMatch(/Test Suites: 4 passed, 4 total/);
  }, 180_000);
});
