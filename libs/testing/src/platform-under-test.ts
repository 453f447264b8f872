import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { AppProcess, buildAll, freePorts, runScript } from './app-process.js';
import { Caller } from './caller.js';
import { commandProcess, runCommand, type EndedCommand } from './command-process.js';
import { eventually } from './eventually.js';
import { inTurn } from './advisory-lock.js';
import { copyMigrated } from './migrated-copy.js';
import { serviceKeys } from './service-keys.js';
import { requiredVariable } from './required-variable.js';

/** A build, five migrations and seven processes, on a machine that may have much else to do, after those of other workers. */
export const START_WITHIN_MS = 600_000;
/** How long it may take to end it, in milliseconds. */
export const END_WITHIN_MS = 60_000;

/** The modules, each an app with a database of its own. */
export const MODULES = ['identity', 'core', 'loyalty', 'messaging', 'crm'] as const;

/** A module. */
export type Module = (typeof MODULES)[number];

/** An organization with the two keys that an operator issues. */
export interface Tenant {
  id: string;
  slug: string;
  /** May do everything in the organization. */
  admin: Caller;
  adminKey: string;
  adminKeyId: string;
  /** May send events and contacts. */
  ingestion: Caller;
  ingestionKey: string;
}

/** A mail as the catcher shows it. */
interface CaughtMail {
  id: string;
  to: string[];
  subject: string;
  correlation_id: string | null;
}

type Variables = Readonly<Record<string, Record<string, string>>>;

interface Database {
  url: string;
  ownerUrl: string;
  adminUrl: string;
}

/** A sender of events repeats what a busy machine did not take: their keys make it the same event. */
const EVENTS = new Set(['/v1/core/track', '/v1/core/batch']);

/** The process that stays for further commands of a module. */
const commandsOf = (module: Module): string => `commands of ${module}`;

const local = (port = 0, scheme = 'http'): string => `${scheme}://127.0.0.1:${String(port)}`;
const record = <T>(names: readonly string[], make: (name: string, at: number) => T): Record<string, T> =>
  Object.fromEntries(names.map((name, at) => [name, make(name, at)]));

/** What another process needs to use a platform that runs. */
export interface PlatformAddress {
  /** What stands before the names of its topics and databases is made of it. */
  run: string;
  ports: Record<string, number>;
  databases: Partial<Record<Module, Database>>;
  ownerKey: string;
  importFolder: string;
}

/** All six apps as processes on real databases, a real broker and a real SMTP server, as they run in production. */
export class PlatformUnderTest {
  private readonly own: Record<string, AppProcess> = {};

  private constructor(
    /** Where it is, for others. */
    readonly address: PlatformAddress,
    private readonly extra: Variables = {},
    private readonly isShared = false,
    /** The scheme by which its apps are called. */
    private readonly scheme: 'http' | 'https' = 'http',
  ) {}

  /** One that another process has started and will end; all that use it have organizations of their own. */
  static at(address: PlatformAddress): PlatformUnderTest {
    return new PlatformUnderTest(address, {}, true);
  }

  /**
   * @param extra variables of apps beyond the usual ones, or instead of them
   * @param options.pages whether the Console is served, too
   * @param options.tls whether `extra` has all its listeners speak TLS
   */
  static async start(extra: Variables = {}, { pages = false, tls = false } = {}): Promise<PlatformUnderTest> {
    await buildAll();
    const names = [...MODULES, 'gateway', 'console'].flatMap((name) => [name, `${name} internal`]);
    names.push(...MODULES.map(commandsOf), 'smtp', 'mail', 'dns');
    const ports = await freePorts(names.length);
    const address: PlatformAddress = {
      run: randomBytes(5).toString('hex'),
      ports: record(names, (_, at) => ports[at] ?? 0),
      databases: {},
      ownerKey: '',
      importFolder: mkdtempSync(join(tmpdir(), 'customer-platform-imports-')),
    };
    const platform = new PlatformUnderTest(address, extra, false, tls ? 'https' : 'http');
    try {
      // Each takes all processors: of several at once none would be ready in time.
      await inTurn('a platform starts', () => platform.begin(pages));
      return platform;
    } catch (error) {
      await platform.stop();
      throw error;
    }
  }

  private async begin(pages: boolean): Promise<void> {
    await Promise.all(MODULES.map((module) => this.migrate(module)));
    const founded = await this.operate('identity', 'organizations', 'bootstrap', '--json');
    this.address.ownerKey = (JSON.parse(founded.output) as { key: string }).key;
    this.startMailCatcher();
    for (const app of [...MODULES, ...(pages ? ['console'] : []), 'gateway']) this.startApp(app);
    await Promise.all(Object.values(this.own).map((process) => process.ready()));
  }

  /** Its processes by name, to be looked at and killed by whoever has started it alone. */
  get processes(): Record<string, AppProcess> {
    if (this.isShared)
      throw new Error('Others use this platform too: a test that ends a process starts its own');
    return this.own;
  }

  /** What the bootstrap printed, once: may do everything in the root. */
  get ownerKey(): string {
    return this.address.ownerKey;
  }

  /** Where files of imports lie. */
  get importFolder(): string {
    return this.address.importFolder;
  }

  /** The front door. */
  get url(): string {
    return local(this.address.ports['gateway'], this.scheme);
  }

  /** The port at which messaging asks for records of domains: a test may start a name server there. */
  get dnsPort(): number {
    return this.address.ports['dns'] ?? 0;
  }

  /** A module's public listener, behind the gateway. */
  urlOf(module: Module): string {
    return local(this.address.ports[module], this.scheme);
  }

  internalUrlOf(module: Module | 'gateway'): string {
    return local(this.address.ports[`${module} internal`], this.scheme);
  }

  /** What stands before the names of its topics. */
  get topicPrefix(): string {
    return `e2e-${this.address.run}-`;
  }

  /** Everything all processes have written so far. */
  get logs(): string {
    return Object.values(this.processes)
      .map(({ log }) => log)
      .join('\n');
  }

  /** Starts an app again that has ended. */
  async restart(app: Module | 'gateway'): Promise<void> {
    await this.startApp(app).ready();
  }

  /**
   * Starts one more process of a module, on ports of its own, that takes its part of all work: `<module> beside` of
   * {@link processes}. @returns where it is called
   */
  async startBeside(module: Module): Promise<string> {
    const [port = 0, internalPort = 0] = await freePorts(2);
    const env = { ...this.envOf(module), PORT: String(port), INTERNAL_PORT: String(internalPort) };
    const url = local(port, this.scheme);
    const name = `${module} beside`;
    const process = new AppProcess(name, `apps/${module}/dist/main.js`, env, `${url}/health/ready`);
    this.own[name] = process;
    await process.ready();
    return url;
  }

  /** A client of the front door with this key, or without one. */
  as(key?: string): Caller {
    const isThere = (): boolean => this.isShared || this.own['identity']?.isRunning === true;
    return new Caller(this.url, key, isThere, true, EVENTS);
  }

  /** Founds an organization below the root, as an operator does. */
  async tenant(): Promise<Tenant> {
    const slug = `tenant-${randomBytes(4).toString('hex')}`;
    const args = ['--name', slug, '--slug', slug, '--issue', 'ingestion', 'administrator', '--json'];
    const { output } = await this.operate('identity', 'organizations', 'create', ...args);
    const { organization_id: id, keys } = JSON.parse(output) as {
      organization_id: string;
      keys: Record<'ingestion' | 'administrator', { id: string; key: string }>;
    };
    const { administrator, ingestion } = keys;
    const tenant = {
      id,
      slug,
      admin: this.as(administrator.key),
      adminKey: administrator.key,
      adminKeyId: administrator.id,
      ingestion: this.as(ingestion.key),
      ingestionKey: ingestion.key,
    };
    await eventually(async () => expect((await tenant.admin.get('/v1/identity/api-keys')).status).toBe(200));
    return tenant;
  }

  /** A key of the organization with exactly these permissions. */
  async keyWith(tenant: Tenant, permissions: readonly Permission[]): Promise<{ id: string; key: string }> {
    const roleId = newId();
    await this.query(
      'identity',
      `WITH role AS (
         INSERT INTO roles (organization_id, id, name, kind, created_at, updated_at)
         VALUES ($1, $2::uuid, 'Test ' || $2::text, 'machine', now(), now()) RETURNING organization_id, id)
       INSERT INTO role_permissions (organization_id, role_id, permission, granted_at)
       SELECT organization_id, id, permission, now() FROM role, unnest($3::text[]) AS permission`,
      [tenant.id, roleId, permissions],
    );
    const { status, body } = await tenant.admin.post<{ id: string; key: string }>('/v1/identity/api-keys', {
      name: 'Test',
      role_id: roleId,
    });
    if (status !== 201) throw new Error(`No key was issued: ${JSON.stringify(body)}`);
    return body;
  }

  /** Runs a command of an app with the app's environment: what it prints, whether or not it ends with 0. */
  async command(app: Module, ...words: string[]): Promise<EndedCommand> {
    try {
      const output = await runScript(`apps/${app}/dist/platform.js`, words, this.envOf(app));
      return { status: 0, output };
    } catch (error) {
      const {
        code,
        stdout = '',
        stderr = '',
      } = error as { code?: unknown; stdout?: string; stderr?: string };
      if (typeof code !== 'number') throw error;
      return { status: code, output: stdout || stderr };
    }
  }

  /**
   * Runs a command as {@link command} does, in a process that has the program loaded and stays for the module's next one.
   * Where the platform is shared there is one of identity alone.
   */
  async operate(module: Module, ...words: string[]): Promise<EndedCommand> {
    const name = commandsOf(module);
    const port = this.address.ports[name] ?? 0;
    if (!this.isShared)
      this.own[name] ??= commandProcess(name, `apps/${module}/dist/platform.js`, port, this.envOf(module));
    await this.own[name]?.ready();
    return runCommand(port, words);
  }

  /** Runs a statement on a module's database as superuser. */
  async query<Row = Record<string, unknown>>(
    module: Module,
    sql: string,
    values: unknown[] = [],
  ): Promise<Row[]> {
    const client = new Client({ connectionString: this.address.databases[module]?.adminUrl ?? '' });
    await client.connect();
    try {
      return (await client.query(sql, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Mails that have come for an address; `source` has the whole of one. */
  async mailsTo(address: string): Promise<CaughtMail[]> {
    const answer = await fetch(
      `${local(this.address.ports['mail'])}/messages?to=${encodeURIComponent(address)}`,
    );
    return ((await answer.json()) as { data: CaughtMail[] }).data;
  }

  /** The texts of one, as a mail program shows them. */
  async mail(id: string): Promise<{ text: string; html: string | null }> {
    const answer = await fetch(`${local(this.address.ports['mail'])}/messages/${id}`);
    return (await answer.json()) as { text: string; html: string | null };
  }

  async mailSource(id: string): Promise<string> {
    return (await fetch(`${local(this.address.ports['mail'])}/messages/${id}/source`)).text();
  }

  /** Ends all processes and drops their databases. */
  async stop(): Promise<void> {
    await Promise.all(Object.values(this.processes).map((process) => process.stop()));
    const server = new Client({ connectionString: requiredVariable('TEST_POSTGRES_URL') });
    await server.connect();
    for (const { adminUrl } of Object.values(this.address.databases)) {
      await server.query(`DROP DATABASE ${new URL(adminUrl).pathname.slice(1)} WITH (FORCE)`);
    }
    await server.end();
    rmSync(this.importFolder, { recursive: true, force: true });
  }

  private async migrate(module: Module): Promise<void> {
    const database = `${module}_e2e_${this.address.run}`;
    const addresses = await copyMigrated({
      module,
      database,
      password: 'test',
      schema: 'built',
      migrate: ({ url, ownerUrl }) =>
        runScript(`apps/${module}/dist/platform.js`, ['migrate'], {
          ...this.envOf(module),
          DATABASE_URL: url,
          DATABASE_OWNER_URL: ownerUrl,
        }),
    });
    const asSuperuser = new URL(requiredVariable('TEST_POSTGRES_URL'));
    asSuperuser.pathname = `/${database}`;
    this.address.databases[module] = { ...addresses, adminUrl: asSuperuser.toString() };
  }

  private startApp(app: string): AppProcess {
    // The gateway and the Console answer others on their public listener: their own health is on the other.
    const port = this.address.ports[app === 'gateway' || app === 'console' ? `${app} internal` : app];
    const process = new AppProcess(
      app,
      `apps/${app}/dist/main.js`,
      this.envOf(app),
      `${local(port, this.scheme)}/health/ready`,
    );
    this.own[app] = process;
    return process;
  }

  private startMailCatcher(): void {
    const env = {
      SMTP_PORT: String(this.address.ports['smtp']),
      HTTP_PORT: String(this.address.ports['mail']),
    };
    const health = `${local(this.address.ports['mail'])}/health`;
    this.own['mail'] = new AppProcess('mail', 'infra/local/mail-catcher/main.ts', env, health);
  }

  /** The environment of an app. */
  envOf(app: string): Record<string, string> {
    const database = this.address.databases[app as Module];
    return {
      PORT: String(this.address.ports[app]),
      INTERNAL_PORT: String(this.address.ports[`${app} internal`]),
      PUBLIC_URL: this.url,
      PLATFORM_MODE: 'local',
      LOG_LEVEL: 'info',
      EVENT_LOOP_LOOK_MS: '10',
      IMPORT_DIRECTORY: this.importFolder,
      ...(database ? { DATABASE_URL: database.url, DATABASE_OWNER_URL: database.ownerUrl } : {}),
      KAFKA_BROKERS: requiredVariable('TEST_KAFKA_BROKERS'),
      KAFKA_TOPIC_PREFIX: this.topicPrefix,
      KAFKA_PARTITIONS: '2',
      ...Object.fromEntries(
        MODULES.flatMap((module) => [
          [`${module.toUpperCase()}_URL`, this.urlOf(module)],
          [`${module.toUpperCase()}_INTERNAL_URL`, this.internalUrlOf(module)],
        ]),
      ),
      CONSOLE_UPSTREAM_URL: local(this.address.ports['console'], this.scheme),
      ...serviceKeys(app),
      CURSOR_SECRET: 'a secret of tests, long enough for cursors',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      ADDRESS_PEPPERS: 'a pepper of tests, long enough',
      LEDGER_KEY: 'a ledger key of tests, long enough for it',
      SMTP_URL: `smtp://127.0.0.1:${String(this.address.ports['smtp'])}`,
      // Unless a test listens there, nobody does: what it verifies is asked of no name server of the world.
      SENDER_DNS_SERVERS: `127.0.0.1:${String(this.dnsPort)}`,
      ...this.extra[app],
    };
  }
}
