import { join, resolve } from 'node:path';
import type { MigrationClass } from '@customer-platform/database';
import { startTestApp, testDatabase, type TestApp, type TestDatabase } from '@customer-platform/testing';
import startTestServices, { endTestServices } from '../test/global-setup.ts';

const DIST = resolve(import.meta.dirname, '../../apps/core/dist');

type CoreApp = Pick<Parameters<typeof startTestApp>[0], 'module' | 'root' | 'beforeExpress' | 'connect'>;

/** Core as it was built, in this process, on a PostgreSQL and a Kafka of its own. */
interface BuiltCore {
  readonly app: TestApp;
  readonly database: TestDatabase;
  /** Ends all of it and removes what it kept. */
  readonly end: () => Promise<void>;
}

/** Starts it; after `npm run build`. */
export async function startBuiltCore(): Promise<BuiltCore> {
  await startTestServices();
  const { CORE_MIGRATIONS } = (await import(join(DIST, 'migrations/core.migrations.js'))) as {
    CORE_MIGRATIONS: MigrationClass[];
  };
  const { coreApp } = (await import(join(DIST, 'core.app.js'))) as { coreApp: () => CoreApp };
  const database = await testDatabase('core', CORE_MIGRATIONS);
  const app = await startTestApp({ ...coreApp(), database });
  return {
    app,
    database,
    end: async () => {
      await app.close();
      await database.drop();
      if (globalThis.testServices) await endTestServices(globalThis.testServices);
    },
  };
}
