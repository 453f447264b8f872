import {
  expectEveryTableIsolated,
  expectMigrationsReversible,
  testDatabase,
} from '@customer-platform/testing';
import { migrations } from './index.js';

it('binds every table to one organization', async () => {
  const database = await testDatabase('loyalty', migrations);
  await expectEveryTableIsolated(database);
  await database.drop();
});

it('can be taken back and run again', async () => {
  await expectMigrationsReversible('loyalty', migrations);
});
