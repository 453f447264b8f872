import {
  expectEveryTableIsolated,
  expectMigrationsReversible,
  testDatabase,
  type TestDatabase,
} from '@customer-platform/testing';
import { migrations } from './index.js';

describe('the schema of identity', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase('identity', migrations);
  });
  afterAll(() => database.drop());

  it('goes up, down and up again', () => expectMigrationsReversible('identity', migrations));

  it('shows no row to another organization', () =>
    expectEveryTableIsolated(database, {
      exempt: [
        'organizations', // the tree itself: slugs are the platform's, and the row of a child is its ancestors' to read
        'built_in_permissions', // the registry of the build, the same for all
      ],
    }));

  it('keeps the tree of organizations behind row level security all the same', async () => {
    const rows = await database.query<{ relrowsecurity: boolean; relforcerowsecurity: boolean }>(
      `SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = 'organizations'`,
    );
    expect(rows).toEqual([{ relrowsecurity: true, relforcerowsecurity: true }]);
    const policies = await database.query<{ polname: string }>(
      `SELECT polname FROM pg_policy WHERE polrelid = 'organizations'::regclass ORDER BY 1`,
    );
    expect(policies.map(({ polname }) => polname)).toEqual(['own_organization', 'reach', 'worker']);
  });
});
