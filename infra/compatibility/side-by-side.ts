import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AppName, MODULES } from '@customer-platform/local/platform/modules.ts';
import type { Checkout, Release } from './checkout.ts';
import { CHAIN_SPEC, contractSpecs, patternsWithoutFiles } from './contract-specs.ts';
import { type ContractRun, type Failure, runSpecs } from './contract-run.ts';
import type { OwnServers } from './own-servers.ts';
import type { Row } from './report.ts';
import { startUnmigrated } from './unmigrated-apps.ts';

/** The two schemas that the tests' databases are copies of. */
const NEWER = 'newer';
const OLDER = 'older';

/** What takes requests and makes events, and what consumes them: the halves of a deploy that stopped midway. */
const FRONT: readonly AppName[] = ['gateway', 'identity', 'core'];
const BEHIND: readonly AppName[] = ['crm', 'loyalty', 'messaging'];

const TABLES = `
SELECT c.relname FROM pg_class c
 WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
   AND c.relname <> 'migrations'`;

const keyOf = ({ file, test }: Failure): string => `${file}: ${test}`;
const sentence = ({ file, test, message }: Failure): string =>
  [file, test, message].filter((part) => part !== '').join(': ');

/** Two releases on the same databases. */
export class SideBySide {
  private parts = 0;
  private readonly older: Checkout;
  private readonly newer: Release;
  private readonly servers: OwnServers;
  private readonly say: (line: string) => void;
  private readonly written: string;

  constructor(older: Checkout, newer: Release, servers: OwnServers, say: (line: string) => void) {
    this.older = older;
    this.newer = newer;
    this.servers = servers;
    this.say = say;
    this.written = join(servers.folder, 'written');
  }

  /** Runs what concerns these apps, and everything that goes through all of them. */
  async judge(apps: readonly AppName[]): Promise<Row[]> {
    const { older, newer, servers } = this;
    this.say('migrating databases as either release does');
    await servers.templates(OLDER, (module) => older.ownMigrations(module));
    await servers.templates(NEWER, (module) => join(newer.root, 'apps', module, 'dist/platform.js'));
    servers.misfits();
    older.migrateAs(newer);
    const rows: Row[] = [];
    for (const app of apps) {
      const part = `${app}: ${older.name} on the newer schema`;
      rows.push(await this.part(part, contractSpecs(older.root, app), NEWER));
    }
    if (apps.includes('gateway')) {
      rows.push(await this.mixed(FRONT));
      rows.push(await this.mixed(BEHIND));
    }
    rows.push(...(await this.unmigrated()));
    const missing = patternsWithoutFiles(older.root);
    for (const pattern of missing) this.say(`${older.name} has no ${pattern}`);
    this.say(await this.coverage(apps));
    return rows;
  }

  private async mixed(apps: readonly AppName[]): Promise<Row> {
    const files = existsSync(join(this.older.root, CHAIN_SPEC)) ? [CHAIN_SPEC] : [];
    this.older.runAs(this.newer, apps);
    try {
      return await this.part(`chain: ${apps.join(', ')} newer`, files, NEWER);
    } finally {
      this.older.runAs(this.older, apps);
    }
  }

  private async part(part: string, files: readonly string[], schema: string): Promise<Row> {
    if (files.length === 0) return { part, run: 'no such tests', verdict: 'nothing to do', details: [] };
    this.say(`${part}: ${files.length} files …`);
    const run = await this.specs(files, schema);
    const size = `${run.files} files, ${run.passed + run.failed} tests, ${run.seconds.toFixed(0)} s`;
    if (run.failed === 0) return { part, run: size, verdict: 'ok', details: [] };
    const misfits = this.servers.misfits().map((line) => `PostgreSQL: ${line}`);
    const failing = new Set(run.failures.map(({ file }) => file));
    this.say(`${part}: ${run.failed} failed; ${failing.size} files again, without the other release …`);
    const alone = await this.alone(failing.size > 0 ? [...failing] : files);
    const anyway = new Set(alone.failures.map(keyOf));
    const broken = run.failures.filter((failure) => !anyway.has(keyOf(failure)));
    return {
      part,
      run: size,
      verdict: broken.length > 0 ? 'broken' : run.passed > 0 && anyway.size > 0 ? 'ok' : 'inconclusive',
      details: [
        ...broken.map(sentence),
        ...alone.failures.map((failure) => `(fails without the other release too) ${sentence(failure)}`),
        ...(broken.length > 0 ? misfits : []),
      ],
    };
  }

  /** All of the older release, on databases of its own. */
  private async alone(files: readonly string[]): Promise<ContractRun> {
    const { older, newer } = this;
    older.migrateAs(older);
    older.runAs(older, []);
    try {
      return await this.specs(files, OLDER);
    } finally {
      older.migrateAs(newer);
      this.servers.misfits();
    }
  }

  private specs(files: readonly string[], schema: string): Promise<ContractRun> {
    this.parts += 1;
    return runSpecs(this.older.root, files, {
      report: join(this.servers.folder, `jest-${this.parts}.json`),
      env: {
        COMPATIBILITY_SCHEMA: schema,
        ...(schema === NEWER ? { COMPATIBILITY_WRITTEN: this.written } : {}),
      },
    });
  }

  private async unmigrated(): Promise<Row[]> {
    this.say('starting the newer apps where their migrations have not run …');
    const found = await startUnmigrated(this.newer, this.servers, { older: OLDER, current: NEWER });
    return found.map(({ module, pending, fault }) => ({
      part: `${module}: the newer app before its migrations`,
      run: `${pending.length} migrations pending`,
      verdict: pending.length === 0 ? 'nothing to do' : fault === undefined ? 'ok' : 'broken',
      details: fault === undefined ? [] : [fault],
    }));
  }

  /** Which tables the tests wrote to: what says how much they can have found. */
  private async coverage(apps: readonly AppName[]): Promise<string> {
    const written = new Set(
      existsSync(this.written) ? readFileSync(this.written, 'utf8').trim().split('\n') : [],
    );
    const all: string[] = [];
    for (const module of MODULES.filter((module) => apps.includes(module)))
      for (const { relname } of await this.servers.query<{ relname: string }>(`${NEWER}_${module}`, TABLES))
        all.push(`${module}.${relname}`);
    const untouched = all.filter((table) => !written.has(table)).sort();
    const rest = untouched.length > 0 ? `; not to ${untouched.join(', ')}` : '';
    return `The tests wrote to ${all.length - untouched.length} of ${all.length} tables${rest}.`;
  }
}
