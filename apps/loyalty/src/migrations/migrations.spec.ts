import {
  expectEveryTableIsolated,
  expectForeignKeysSeek,
  expectMigrationsReversible,
  testDatabase,
} from '@customer-platform/testing';
import { migrations } from './index.js';

it('binds every table to one organization', async () => {
  const database = await testDatabase('loyalty', migrations);
  // The keys are the module's own, of no organization; workers alone read them.
  await expectEveryTableIsolated(database, { exempt: ['signing_keys'] });
  await database.drop();
});

it('finds the rows behind its foreign keys by their whole key from the first row on', async () => {
  const database = await testDatabase('loyalty', migrations);
  await expectForeignKeysSeek(database);
  await database.drop();
});

it('can be taken back and run again', async () => {
  await expectMigrationsReversible('loyalty', migrations);
});
