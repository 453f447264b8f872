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
      await expectEveryTableIsolated(database);
      await expectForeignKeysSeek(database);
    } finally {
      await database.drop();
    }
  });

  it('are made, taken away and made again alike', async () => {
    await expectMigrationsReversible('messaging', migrations);
  });
});
