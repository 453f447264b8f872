import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MODULES, type ModuleName } from '@customer-platform/local/platform/modules.ts';
import type { DatabaseAddresses } from '@customer-platform/local/platform/app-environment.ts';
import { queryOnce } from '@customer-platform/local/services/postgres.ts';
import startTestServices, { endTestServices } from '../test/global-setup.ts';

/** Of every role: the servers are of this run alone and listen on loopback. */
const PASSWORD = 'test';

/** Errors that come of a schema that a statement was not written for; all others tests provoke as well. */
const MISFIT =
  /ERROR:\s+(.*(?:no unique or exclusion constraint matching|does not exist|violates not-null|violates check|permission denied|row-level security|cannot insert).*)/;

/** A PostgreSQL and a Kafka of this run, as the tests of `npm test` have them. */
export class OwnServers {
  /** For logs and reports; goes with the servers. */
  readonly folder = mkdtempSync(join(tmpdir(), 'customer-platform-compatibility-'));

  private log = '';
  private readUpTo = 0;

  async start(): Promise<void> {
    // Not those of somebody's test run: databases are made by fixed names.
    for (const name of ['TEST_POSTGRES_URL', 'TEST_KAFKA_BROKERS']) Reflect.deleteProperty(process.env, name);
    await startTestServices();
    this.log = join(globalThis.testServices?.folder ?? '', 'postgres', 'postgres.log');
  }

  async stop(): Promise<void> {
    const services = globalThis.testServices;
    globalThis.testServices = undefined;
    if (services) await endTestServices(services);
    rmSync(this.folder, { recursive: true, force: true });
  }

  get brokers(): string {
    return process.env['TEST_KAFKA_BROKERS'] ?? '';
  }

  private get postgres(): string {
    return process.env['TEST_POSTGRES_URL'] ?? '';
  }

  /** Makes `database` for a module and runs a migration program of a release on it. */
  async migrated(module: ModuleName, database: string, migrate: string): Promise<void> {
    // Loaded when all is built.
    const { provisionDatabase } = await import('@customer-platform/database');
    const passwords = { ownerPassword: PASSWORD, appPassword: PASSWORD };
    const { ownerUrl } = await provisionDatabase({ adminUrl: this.postgres, module, database, ...passwords });
    await promisify(execFile)(process.execPath, [migrate, 'migrate'], {
      env: { PATH: process.env['PATH'], DATABASE_OWNER_URL: ownerUrl },
      maxBuffer: 16 * 2 ** 20,
    });
  }

  /** Databases that tests get copies of, `<schema>_<module>`, made by these migration programs. */
  async templates(schema: string, migrateOf: (module: ModuleName) => string): Promise<void> {
    for (const module of MODULES) await this.migrated(module, `${schema}_${module}`, migrateOf(module));
  }

  /** What PostgreSQL said since it was last asked of statements that do not fit the schema, each once. */
  misfits(): string[] {
    const log = readFileSync(this.log, 'utf8');
    const lines = log.slice(this.readUpTo).split('\n');
    this.readUpTo = log.length;
    return [...new Set(lines.flatMap((line) => MISFIT.exec(line)?.[1] ?? []))];
  }

  /** Of a database that {@link migrated} has made. */
  addresses(module: ModuleName, database: string): DatabaseAddresses {
    const address = (user: string): string => {
      const url = new URL(this.postgres);
      Object.assign(url, { username: user, password: PASSWORD, pathname: `/${database}` });
      return url.toString();
    };
    return { url: address(`${module}_app`), ownerUrl: address(`${module}_owner`) };
  }

  /** All rows of a statement, as the server's administrator. */
  query<Row>(database: string, sql: string): Promise<Row[]> {
    const url = new URL(this.postgres);
    url.pathname = `/${database}`;
    return queryOnce<Row>(url.toString(), sql);
  }
}
