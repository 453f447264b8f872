import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReferenceSource, SubjectTable } from '@customer-platform/database';
import type { TestDatabase } from '../test-database.js';
import { SHARED_TENANT_TABLES } from './shared-tenant-tables.js';
import { columnsIn, COUNTED, GOES, type TenantTable, type TenantTables } from './tenant-table.js';

const ROOT = join(import.meta.dirname, '../../../..');

/** Tables with organizations, without partitions of others. */
const CATALOGUE = `
  SELECT t.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
   WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
   GROUP BY t.relname HAVING bool_or(a.attname = 'organization_id') ORDER BY t.relname`;

/** What the module does with its tables, beside the lists that say what it does. */
interface ListedModule {
  /** The module's own tables; the libraries' are known. */
  readonly tables: TenantTables;
  /** The module's folder `src`. */
  readonly sources: string;
  /** What the module counts before an organization is purged: its sources of references, or names of tables. */
  readonly counted: readonly (ReferenceSource | string)[];
  /** What goes when an organization is purged. */
  readonly gone?: readonly string[];
  /** What the module gives a person of whom an archive is made. */
  readonly archived: readonly SubjectTable[];
}

/**
 * Proves over the catalogue of a migrated database that every column of every tenant's table stands on exactly one list,
 * and that every table is either counted, archived and removed as its lists say, or has a reason why not. A new table or
 * column fails until it is listed.
 */
export async function expectTenantTablesListed(
  database: Pick<TestDatabase, 'query'>,
  module: ListedModule,
): Promise<void> {
  const catalogue = await database.query<{ name: string; columns: string[] }>(CATALOGUE);
  const there = new Set(catalogue.map(({ name }) => name));
  const findings = Object.keys(module.tables)
    .filter((name) => !there.has(name))
    .map((name) => `${name}: is listed, and not in the database`);
  for (const { name, columns } of catalogue) {
    const table = module.tables[name] ?? SHARED_TENANT_TABLES[name];
    if (table === undefined) findings.push(`${name}: is on no list`);
    else
      findings.push(
        ...columnFindings(columns, table, module).map((finding) => `${name}: ${finding}`),
        ...tableFindings(name, table, { module, there }).map((finding) => `${name}: ${finding}`),
      );
  }
  expect(findings).toEqual([]);
}

function columnFindings(columns: readonly string[], table: TenantTable, module: ListedModule): string[] {
  const stays = [...Object.entries(table.kept ?? {}), ...Object.entries(table.technical ?? {})];
  const listed = [...columnsIn(table.erased), ...stays.flatMap(([, names]) => columnsIn(names))];
  const own = columns.filter((column) => column !== 'organization_id');
  return [
    ...own.filter((column) => !listed.includes(column)).map((column) => `${column} is on no list`),
    ...listed.filter((column) => !own.includes(column)).map((column) => `${column} is listed and not there`),
    ...listed
      .filter((column, at) => listed.indexOf(column) !== at)
      .map((column) => `${column} is listed twice`),
    ...stays.flatMap(([reason, names]) => readerFindings(reason, columnsIn(names), module)),
    ...archiveFindings(own, table.archive, module),
  ];
}

/** The file must be there, and name the column as SQL or the code does. */
function readerFindings(reason: string, names: readonly string[], module: ListedModule): string[] {
  const [file = '', why = ''] = reason.split(': ');
  if (file === 'unread' && why !== '') return [];
  const text = sourceOf(file, module);
  if (text === undefined || why === '') return [`"${reason}" does not begin with a file that reads it`];
  return names
    .filter((name) => !new RegExp(String.raw`\b(?:${name}|${camelCase(name)})\b`, 'u').test(text))
    .map((name) => `${file} does not read ${name}`);
}

/** A column that is neither given nor withheld for a reason is missing from archives. */
function archiveFindings(
  columns: readonly string[],
  archive: TenantTable['archive'],
  { archived }: ListedModule,
): string[] {
  if (typeof archive === 'string') return [];
  const given = archived.filter(({ resource }) => resource === archive.as);
  if (given.length === 0) return [`no archive gives ${archive.as}`];
  const text = given.flatMap((each) => each.columns).join(' ');
  const withheld = Object.values(archive.withheld ?? {}).flatMap(columnsIn);
  const isGiven = (column: string): boolean => new RegExp(String.raw`\.\W?${column}\b`, 'u').test(text);
  return [
    ...columns
      .filter((column) => !withheld.includes(column) && !isGiven(column))
      .map((column) => `${column} is neither in the archive's ${archive.as} nor withheld`),
    ...withheld
      .filter((column) => !columns.includes(column))
      .map((column) => `${column} is withheld and not there`),
  ];
}

function tableFindings(
  name: string,
  table: TenantTable,
  { module, there }: { module: ListedModule; there: ReadonlySet<string> },
): string[] {
  const counted = module.counted.map((each) => (typeof each === 'string' ? each : tableOf(each)));
  const isCounted = counted.includes(name);
  const isGone = (module.gone ?? []).includes(name);
  const isArchived = module.archived.some(({ from }) => from.startsWith(`${name} AS own`));
  const [, base] = /^goes with (\w+)$/u.exec(table.organization) ?? [];
  const [, remover] = /^by (\S+)$/u.exec(table.removed) ?? [];
  return [
    ...(isCounted === (table.organization === COUNTED)
      ? []
      : [`"${table.organization}", and it is ${isCounted ? '' : 'not '}counted before a purge`]),
    // What is built in goes, although the rest of it is counted.
    ...(isGone || table.organization !== GOES ? [] : ['no purge of an organization removes it']),
    ...(base === undefined || there.has(base) ? [] : [`there is no table ${base}`]),
    ...(isArchived && typeof table.archive === 'string' ? ['an archive gives it'] : []),
    ...removalFindings(name, remover, { reason: table.removed, module }),
  ];
}

function removalFindings(
  name: string,
  file: string | undefined,
  { reason, module }: { reason: string; module: ListedModule },
): string[] {
  if (file === undefined)
    return /^stays: \S/u.test(reason) ? [] : [`"${reason}" says neither who removes it nor why it stays`];
  const text = sourceOf(file, module);
  const removes = new RegExp(String.raw`DELETE FROM ${name}\b|table: '${name}'`, 'u');
  return text !== undefined && removes.test(text) ? [] : [`${file} does not remove its rows`];
}

function tableOf({ count }: ReferenceSource): string {
  return /FROM \(\s*SELECT FROM (\w+)/u.exec(count)?.[1] ?? '';
}

function sourceOf(file: string, { sources }: ListedModule): string | undefined {
  const path = join(file.startsWith('libs/') ? ROOT : sources, file);
  return file.endsWith('.ts') && existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
}
