import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { newId } from '@customer-platform/database';
import {
  describeWith,
  eventually,
  postgresClient,
  requiredVariable,
  startTestApp,
  testDatabase,
  TestRegistry,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { coreApp } from '../core.app.js';
import { accepted, aTrack } from '../core.fixture.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';

const ROOT = join(import.meta.dirname, '../../../..');
const PERMISSIONS = ['core.events.write', 'core.events.read'] as const;

/** Who owns a table, and what keeps one tenant's rows from another. */
const SECURED = `
  SELECT c.relname, c.relowner::regrole::text AS owner, c.relrowsecurity, c.relforcerowsecurity,
         (SELECT array_agg(p.polname || pg_get_expr(p.polqual, c.oid) ORDER BY 1)
            FROM pg_policy p WHERE p.polrelid = c.oid) AS policies,
         (SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid) AS triggers,
         has_table_privilege('core_app', c.oid, 'SELECT') AS readable
    FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname`;

const EVENTS =
  'SELECT organization_id, count(*) FROM events GROUP BY organization_id ORDER BY organization_id';

/** The commands of docs/operations/restore.md that a word is in, as they are pasted. */
function commandsWith(word: string, language = 'sh'): string {
  const page = readFileSync(join(ROOT, 'docs/operations/restore.md'), 'utf8');
  const block = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gmu');
  const blocks = [...page.matchAll(block)].map(([, indent = '', commands = '']) =>
    commands.replaceAll(new RegExp(`^${indent}`, 'gmu'), ''),
  );
  const [found, ...more] = blocks.filter((commands) => commands.includes(word));
  if (found === undefined || more.length > 0) throw new Error(`restore.md has not one block with ${word}`);
  return found;
}

await describeWith('restore.md, with pg_dump', postgresClient, (bin) => {
  const backupRole = `platform_backup_${newId().replaceAll('-', '')}`;
  const organizations = [newId(), newId()];
  let folder: string;
  let registry: TestRegistry;
  let database: TestDatabase;
  let app: TestApp;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'restore-'));
    mkdirSync(join(folder, 'infra/docker'), { recursive: true });
    cpSync(join(ROOT, 'infra/docker/count-rows.sql'), join(folder, 'infra/docker/count-rows.sql'));
    registry = await TestRegistry.start();
    database = await testDatabase('core', CORE_MIGRATIONS);
    app = await startTestApp({ ...coreApp(), database, registry });
    for (const organization of organizations) await accepted(app.as(organization, PERMISSIONS), aTrack());
    await eventually(
      async () => {
        const rows = await database.query('SELECT DISTINCT organization_id FROM events');
        expect(rows).toHaveLength(organizations.length);
      },
      { within: 60_000 },
    );
    await app.close();
  });
  afterAll(async () => {
    await database.drop();
    await registry.close();
    rmSync(folder, { recursive: true });
  });

  /** Pastes commands where the databases of the page are these: `core` has this name, and the others are not there. */
  function paste(commands: string, name: string, more: NodeJS.ProcessEnv = {}) {
    const own = commands
      .replace('core, crm, identity, messaging, loyalty', 'core')
      .replaceAll('platform_backup', backupRole)
      .replaceAll(/\bcore(_before)?\b/g, (_, suffix: string | undefined) => `${name}${suffix ?? ''}`);
    const server = new URL(requiredVariable('TEST_POSTGRES_URL'));
    const env = {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      PGHOST: server.hostname,
      PGPORT: server.port,
      PGUSER: server.username,
      PGPASSWORD: server.password,
      BACKUP_PASSWORD: 'of the backup',
      ...more,
    };
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-e', '-c', own], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }
  const nameOf = (url: string): string => new URL(url).pathname.slice(1);

  /** What another database of the server holds. */
  async function rowsIn(name: string, statement: string): Promise<unknown[]> {
    const address = new URL(database.adminUrl);
    address.pathname = `/${name}`;
    const client = new Client({ connectionString: address.toString() });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  it('the owner dumps nothing, and with the obvious flag no tenant’s row and no error', () => {
    const owner = { PGUSER: 'core_owner', PGPASSWORD: new URL(database.ownerUrl).password };
    const name = nameOf(database.url);
    const refused = paste('pg_dump --dbname core --file owner.sql', name, owner);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('query would be affected by row-level security policy');
    const silent = paste('pg_dump --dbname core --enable-row-security --file owner.sql', name, owner);
    expect(silent).toMatchObject({ status: 0, stderr: '' });
    const dump = readFileSync(join(folder, 'owner.sql'), 'utf8');
    expect(dump).toContain('CREATE TABLE public.contacts');
    for (const organization of organizations) expect(dump).not.toContain(organization);
    // Nor does the owner count empty tables for full ones.
    const counted = paste('psql --dbname core --file infra/docker/count-rows.sql', name, owner);
    expect(counted.status).not.toBe(0);
  });

  it('its commands dump every row of every tenant, and restore each one, of the owner and secured as before', async () => {
    const from = nameOf(database.url);
    expect(paste(commandsWith('CREATE ROLE platform_backup'), from)).toMatchObject({ status: 0, stderr: '' });
    expect(paste(commandsWith('pg_dump --dbname'), from)).toMatchObject({ status: 0, stderr: '' });

    // What is lost has the page's name, and nobody is connected to it.
    const to = `core_${newId().replaceAll('-', '')}`;
    await database.query(`CREATE DATABASE ${to} OWNER core_owner`);
    for (const file of ['dump', 'rows'])
      renameSync(join(folder, `${from}.${file}`), join(folder, `${to}.${file}`));
    try {
      expect(paste(commandsWith('pg_restore --dbname'), to)).toMatchObject({ status: 0, stderr: '' });
      const secured = await rowsIn(to, SECURED);
      expect(secured.length).toBeGreaterThan(50);
      expect(secured).toEqual(await database.query(SECURED));
      expect(await rowsIn(to, EVENTS)).toEqual(
        [...organizations].sort().map((id) => ({ organization_id: id, count: '1' })),
      );
    } finally {
      for (const name of [to, `${to}_before`]) await database.query(`DROP DATABASE IF EXISTS ${name}`);
      await database.query(`DROP OWNED BY ${backupRole}`);
      await database.query(`DROP ROLE ${backupRole}`);
    }
  });

  it('its statements on core’s database are the owner’s, and reach every tenant’s rows', async () => {
    const owner = {
      PGUSER: 'core_owner',
      PGPASSWORD: new URL(database.ownerUrl).password,
      PGDATABASE: nameOf(database.url),
    };
    const [{ consumer = '' } = {}] = await database.query<{ consumer: string }>(
      'SELECT consumer FROM consumer_positions LIMIT 1',
    );
    const statements = [
      commandsWith('FROM audit_log', 'sql').replace('MOMENT OF THE RESTORE', '2026-01-01'),
      commandsWith('DELETE FROM consumer_positions', 'sql').replace('GROUP', consumer),
    ];
    for (const statement of statements) {
      const psql = `psql --set ON_ERROR_STOP=1 <<'SQL'\n${statement}\nSQL`;
      expect(paste(psql, 'core', owner)).toMatchObject({ status: 0, stderr: '' });
    }
    const left = await database.query('SELECT 1 FROM consumer_positions WHERE consumer = $1', [consumer]);
    expect([consumer === '', left]).toEqual([false, []]);
  });
});
