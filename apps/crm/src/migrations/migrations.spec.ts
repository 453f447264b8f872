import {
  expectEveryTableIsolated,
  expectMigrationsReversible,
  testDatabase,
} from '@customer-platform/testing';
import { CRM_MIGRATIONS } from './index.js';

describe('the migrations of crm', () => {
  it('run up, down and up', () => expectMigrationsReversible('crm', CRM_MIGRATIONS));

  it('bind every table to the organization', async () => {
    const database = await testDatabase('crm', CRM_MIGRATIONS);
    // The keys are the module's own, of no organization; workers alone read them.
    await expectEveryTableIsolated(database, { exempt: ['signing_keys'] });
    await database.drop();
  });
});
