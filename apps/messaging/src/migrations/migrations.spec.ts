import {
  expectEveryTableIsolated,
  expectForeignKeysSeek,
  expectMigrationsReversible,
  testDatabase,
} from '@customer-platform/testing';
import { migrations } from './index.js';

describe('the tables of messaging', () => {
  it('show no row to another organization', async () => {
    const database = await testDatabase('messaging', migrations);
    try {
      // The keys are the module's own, of no organization; workers alone read them.
      await expectEveryTableIsolated(database, { exempt: ['signing_keys'] });
      await expectForeignKeysSeek(database);
    } finally {
      await database.drop();
    }
  });

  it('are made, taken away and made again alike', async () => {
    await expectMigrationsReversible('messaging', migrations);
  });
});
