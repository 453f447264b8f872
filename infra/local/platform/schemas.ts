/** The tables of every module, read from databases that its migrations have just made. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Guardian } from '../services/guardian.ts';
import { freePort } from '@customer-platform/kit/ports.ts';
import { queryOnce, startPostgres } from '../services/postgres.ts';
import { builtFingerprint } from './build.ts';
import { DataFolder } from './data-folder.ts';
import { prepareDatabases } from './databases.ts';
import { MODULES, type ModuleName, ROOT } from './modules.ts';
import { loadSecrets } from './secrets.ts';

interface Column {
  name: string;
  type: string;
  nullable: boolean;
}

interface ForeignKey {
  columns: string[];
  target: string;
}

export interface Table {
  name: string;
  columns: Column[];
  primaryKey: string[];
  /** Unique constraints and unique indexes, as PostgreSQL writes what they hold. */
  unique: string[];
  foreignKeys: ForeignKey[];
  /** How it is divided, as PostgreSQL writes it; absent where it is not. */
  partitions?: string;
}

export type Schemas = Record<ModuleName, Table[]>;

const TABLES = `
  SELECT c.relname AS name,
    (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                       'nullable', NOT a.attnotnull) ORDER BY a.attnum)
       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    coalesce((SELECT json_agg(a.attname ORDER BY k.position)
       FROM pg_constraint p, unnest(p.conkey) WITH ORDINALITY k(attnum, position), pg_attribute a
      WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attrelid = c.oid AND a.attnum = k.attnum), '[]') AS "primaryKey",
    coalesce((SELECT json_agg(substring(pg_get_indexdef(i.indexrelid) FROM ' USING \\w+ (.*)$')
                              ORDER BY pg_get_indexdef(i.indexrelid))
       FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND NOT i.indisprimary), '[]') AS unique,
    coalesce((SELECT json_agg(json_build_object('target', t.relname, 'columns',
                (SELECT json_agg(a.attname ORDER BY k.position) FROM unnest(f.conkey) WITH ORDINALITY k(attnum, position)
                   JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum)) ORDER BY f.conname)
       FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND NOT t.relispartition), '[]') AS "foreignKeys",
    pg_get_partkeydef(c.oid) || coalesce(' in ' || (SELECT count(*) FROM pg_inherits h WHERE h.inhparent = c.oid), '')
      AS partitions
    FROM pg_class c
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   ORDER BY c.relname`;

/** The cluster that the migrations of the last build have made, kept for whoever reads the same schemas next. */
const KEPT = join(ROOT, 'node_modules/.cache/customer-platform/migrated');

/** Starts a PostgreSQL for this, with the databases that the migrations of the last build make, until the work is done. */
export async function withMigratedDatabases<T>(work: (urlOf: UrlOf) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'customer-platform-schema-')));
  const guardian = new Guardian();
  guardian.removeAtEnd(folder);
  try {
    mkdirSync(join(folder, 'postgres'));
    const cluster = join(folder, 'postgres/cluster');
    const start = async () =>
      startPostgres({
        folder: cluster,
        port: await freePort(),
        password: 'schema',
        log: join(folder, 'postgres/postgres.log'),
        guardian,
        durable: false,
      });
    const kept = join(KEPT, builtFingerprint());
    const isKept = existsSync(kept);
    if (isKept) await copy(kept, cluster);
    let postgres = await start();
    try {
      if (!isKept) {
        const data = new DataFolder(join(folder, 'data'));
        await prepareDatabases({ adminUrl: postgres.url, embedded: true }, loadSecrets(data), data);
        await postgres.child.stop(8_000);
        await keep(cluster, kept);
        postgres = await start();
      }
      return await work((module) => {
        const url = new URL(postgres.url);
        url.pathname = `/${module}`;
        return url.href;
      });
    } finally {
      await postgres.child.stop(8_000);
    }
  } finally {
    await guardian.release();
  }
}

/** Keeps a cluster that has ended, in place of those of other builds. */
async function keep(cluster: string, kept: string): Promise<void> {
  mkdirSync(KEPT, { recursive: true });
  for (const former of readdirSync(KEPT)) rmSync(join(KEPT, former), { recursive: true, force: true });
  const draft = `${KEPT}.${String(process.pid)}`;
  await copy(cluster, draft);
  renameSync(draft, kept);
}

/** Its owners are copied, too: PostgreSQL starts on no folder of somebody else's. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}

/** Where the database of a module is. */
type UrlOf = (module: ModuleName) => string;

/** All tables that the migrations of the last build make. */
export async function migratedSchemas(): Promise<Schemas> {
  return withMigratedDatabases(async (urlOf) => {
    const entries: [ModuleName, Table[]][] = [];
    for (const module of MODULES) entries.push([module, await tablesOf(urlOf(module))]);
    return Object.fromEntries(entries) as Schemas;
  });
}

async function tablesOf(url: string): Promise<Table[]> {
  const rows = await queryOnce<Table & { partitions: string | null }>(url, TABLES);
  return rows.map(({ partitions, ...table }) => (partitions === null ? table : { ...table, partitions }));
}
