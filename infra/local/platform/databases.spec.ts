import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@customer-platform/kit/ports.ts';
import { Guardian } from '../services/guardian.ts';
import { queryOnce, startPostgres } from '../services/postgres.ts';
import { DataFolder } from './data-folder.ts';
import { prepareDatabases, requireOurs } from './databases.ts';
import { type Secrets, loadSecrets } from './secrets.ts';

let folder: string;
let guardian: Guardian;
let url: string;
let data: DataFolder;
let secrets: Secrets;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'databases-')));
  guardian = new Guardian();
  const { url: address } = await startPostgres({
    folder: join(folder, 'postgres'),
    port: await freePort(),
    password: 'admin-secret',
    log: join(folder, 'postgres.log'),
    guardian,
    durable: false,
  });
  url = address;
  data = new DataFolder(join(folder, 'data'));
  secrets = loadSecrets(data);
}, 60_000);
afterAll(async () => {
  await guardian.release();
  rmSync(folder, { recursive: true, force: true });
});

describe('a server that is not ours alone', () => {
  const prepare = () => prepareDatabases({ adminUrl: url, embedded: false }, secrets, data);
  const rolesThere = () =>
    queryOnce<{ rolname: string }>(
      url,
      `SELECT rolname FROM pg_roles WHERE rolname ~ '_(owner|app)$' AND rolname !~ '^pg_'`,
    );

  it('keeps a database of one of the names that is another program’s, and nothing is made beside it', async () => {
    await queryOnce(url, 'CREATE DATABASE core');
    await expect(prepare()).rejects.toThrow(
      /^The database core on 127\.0\.0\.1:\d+ as postgres is owned by postgres, not by core_owner: it is another program's\. Give /,
    );
    expect(await rolesThere()).toEqual([]);
    expect(await queryOnce(url, `SELECT datacl FROM pg_database WHERE datname = 'core'`)).toEqual([
      { datacl: null },
    ]);
    await queryOnce(url, 'DROP DATABASE core');
  });

  it('keeps the password of a role that another folder’s platform uses', async () => {
    await queryOnce(url, `CREATE ROLE crm_owner LOGIN PASSWORD 'theirs'`);
    await expect(prepare()).rejects.toThrow(
      /^The role crm_owner on .* has another password than secrets\.json/,
    );
    const theirs = new URL(url);
    [theirs.username, theirs.password] = ['crm_owner', 'theirs'];
    expect(await queryOnce(theirs.href, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await queryOnce(url, 'DROP ROLE crm_owner');
  });

  it('is ours where its databases and roles are', async () => {
    await queryOnce(url, `CREATE ROLE crm_owner LOGIN PASSWORD '${secrets.modules.crm.owner}'`);
    await queryOnce(url, 'CREATE DATABASE crm OWNER crm_owner');
    await requireOurs(url, secrets);
    await queryOnce(url, 'REVOKE ALL ON DATABASE postgres FROM PUBLIC');
    await requireOurs(url, secrets);
  });
});
