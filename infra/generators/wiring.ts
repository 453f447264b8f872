import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Where an app's parts are named: its root module, and the list of its migrations. */
export interface AppWiring {
  /** `CrmModule`, in `src/crm.module.ts`. */
  moduleClass: string;
  /** The file in `src/migrations` that lists them, without `.ts`, and what it exports. */
  migrationsFile: string;
  migrationsName: string;
}

/** A text put into another at a place of it. */
interface Insertion {
  at: number;
  text: string;
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
}

function find<T extends ts.Node>(root: ts.Node, matches: (node: ts.Node) => node is T): T | undefined {
  return matches(root) ? root : ts.forEachChild(root, (child) => find(child, matches));
}

/** The list that is the value of a property of this name, outermost first. */
function listOf(root: ts.Node, property: string): ts.ArrayLiteralExpression | undefined {
  const assignment = find(
    root,
    (node): node is ts.PropertyAssignment =>
      ts.isPropertyAssignment(node) &&
      node.name.getText() === property &&
      ts.isArrayLiteralExpression(node.initializer),
  );
  const list = assignment?.initializer;
  return list && ts.isArrayLiteralExpression(list) ? list : undefined;
}

function exportedList(source: ts.SourceFile): ts.VariableDeclaration | undefined {
  return find(
    source,
    (node): node is ts.VariableDeclaration =>
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      ts.isArrayLiteralExpression(node.initializer),
  );
}

function append(list: ts.ArrayLiteralExpression, item: string): Insertion {
  const last = list.elements.at(-1);
  return last ? { at: last.getEnd(), text: `, ${item}` } : { at: list.getStart() + 1, text: item };
}

function importLine(source: ts.SourceFile, line: string): Insertion {
  const last = source.statements.filter(ts.isImportDeclaration).at(-1);
  return { at: last?.getEnd() ?? 0, text: `\n${line}` };
}

function applied(source: ts.SourceFile, insertions: Insertion[]): string {
  return insertions
    .sort((a, b) => b.at - a.at)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source.text);
}

/** @throws Error when the app is not built as the others are */
export function wiringOf(app: string, module: string): AppWiring {
  const moduleClass = find(parse(join(app, `src/${module}.module.ts`)), ts.isClassDeclaration)?.name?.text;
  const migrations = join(app, 'src/migrations');
  const file = readdirSync(migrations).find((name) => !/^\d|\.spec\.ts$/.test(name));
  const declaration = file === undefined ? undefined : exportedList(parse(join(migrations, file)));
  if (moduleClass === undefined || file === undefined || !declaration)
    throw new Error(`${app} has no module class, or no file that lists its migrations.`);
  return {
    moduleClass,
    migrationsFile: file.replace(/\.ts$/, ''),
    migrationsName: declaration.name.getText(),
  };
}

/** The text of the app's module with a feature and its entity added. */
export function moduleWith(
  file: string,
  feature: { module: string; entity: string; folder: string; entityFile: string },
): string {
  const source = parse(file);
  const imports = listOf(source, 'imports');
  const entities = listOf(source, 'entities');
  if (!imports || !entities) throw new Error(`${file} has no list of imports, or none of entities.`);
  return applied(source, [
    append(imports, feature.module),
    append(entities, feature.entity),
    importLine(
      source,
      `import { ${feature.entity} } from './${feature.folder}/${feature.entityFile}.entity.js';`,
    ),
    importLine(
      source,
      `import { ${feature.module} } from './${feature.folder}/${feature.folder}.module.js';`,
    ),
  ]);
}

/** The text of the list of migrations with one more. */
export function migrationsWith(file: string, migration: { name: string; file: string }): string {
  const source = parse(file);
  const list = exportedList(source)?.initializer;
  if (!list || !ts.isArrayLiteralExpression(list)) throw new Error(`${file} lists no migrations.`);
  return applied(source, [
    append(list, migration.name),
    importLine(source, `import { ${migration.name} } from './${migration.file}.js';`),
  ]);
}

function exportedObject(source: ts.SourceFile): ts.ObjectLiteralExpression | undefined {
  return find(
    source,
    (node): node is ts.VariableStatement =>
      ts.isVariableStatement(node) &&
      node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true,
  )
    ?.declarationList.declarations.map(({ initializer }) => initializer)
    .find((node) => node !== undefined && ts.isObjectLiteralExpression(node));
}

/** The text of the lists of the module's tables with one more. */
export function tablesWith(file: string, entry: string): string {
  const source = parse(file);
  const lists = exportedObject(source);
  const last = lists?.properties.at(-1);
  if (!last) throw new Error(`${file} lists no tables.`);
  return applied(source, [{ at: last.getEnd(), text: `, ${entry}` }]);
}

/** Where an app says what keeps an organization from being purged, from `src`. */
export function countedFile(app: string): string {
  const file = 'organization-references.ts';
  return existsSync(join(app, 'src', file)) ? file : `organizations/${file}`;
}

/** The text of what keeps an organization from being purged, with the rows of one more table. */
export function countedWith(file: string, table: string): string {
  const source = parse(file);
  const call = find(
    source,
    (node): node is ts.CallExpression =>
      ts.isCallExpression(node) && node.expression.getText(source) === 'referencesToOrganization',
  );
  const [list] = call?.arguments ?? [];
  if (list && ts.isArrayLiteralExpression(list))
    return applied(source, [append(list, `{ table: '${table}' }`)]);
  const held = find(source, ts.isObjectLiteralExpression)?.properties.at(-1);
  if (!held) throw new Error(`${file} does not say what keeps an organization.`);
  const count = `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1`;
  return applied(source, [{ at: held.getEnd(), text: `, ${table}: '${count}'` }]);
}
