/**
 * `npm run migrate [-- --data DIR]`
 *
 * Makes every module's roles and database where they are missing and runs its migrations: on the server of
 * `DATABASE_URL` (a role that may create roles and databases), else on that of the platform that `npm start` runs.
 * The roles' passwords are those of DIR/secrets.json, made if there are none. Prints the addresses as JSON.
 */
import { build } from './platform/build.ts';
import { DataFolder } from './platform/data-folder.ts';
import { databaseAddresses, prepareDatabases } from './platform/databases.ts';
import { readOptions } from './platform/options.ts';
import { loadSecrets } from './platform/secrets.ts';
import type { DemoFacts } from './platform/summary.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const data = new DataFolder(options.data);
  const adminUrl = options.databaseUrl ?? data.readJson<DemoFacts>('demo.json')?.postgres_url;
  if (adminUrl === undefined)
    throw new Error(
      'There is no database server: give its address in DATABASE_URL, or run "npm start" first.',
    );
  const secrets = loadSecrets(data);
  await build();
  await prepareDatabases({ adminUrl, embedded: false }, secrets, data);
  process.stdout.write(`${JSON.stringify(databaseAddresses(adminUrl, secrets), null, 2)}\n`);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
