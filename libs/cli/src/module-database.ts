import {
  databaseConfig,
  encryptionConfig,
  keyringOf,
  readConfig,
  type Keyring,
} from '@customer-platform/config';
import { Database, dataSourceOf } from '@customer-platform/database';
import type { ModuleName } from '@customer-platform/http';

/** What a command reads that opens or seals secrets. */
export const SEALING_ENVIRONMENT = (module: ModuleName): Record<string, string> => ({
  DATABASE_URL: `the database of ${module}, as ${module}_app`,
  ENCRYPTION_KEY: 'the key of what was sealed before there was a list of keys',
  ENCRYPTION_KEYS: 'id:key,id:key; the first seals, all open',
});

/** Work with a module's database and the keys that seal its secrets, on one connection. */
export async function withDatabase<T>(
  module: ModuleName,
  work: (database: Database, keyring: Keyring) => Promise<T>,
): Promise<T> {
  const keyring = keyringOf(readConfig(encryptionConfig));
  return withOwnDatabase(module, (database) => work(database, keyring));
}

/** Work with a module's database, on one connection. */
export async function withOwnDatabase<T>(
  module: ModuleName,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { DATABASE_URL: url } = readConfig(databaseConfig.pick({ DATABASE_URL: true }));
  const source = dataSourceOf({ module, entities: [], migrations: [], url, poolSize: 1 });
  await source.initialize();
  try {
    return await work(new Database(source));
  } finally {
    await source.destroy();
  }
}
