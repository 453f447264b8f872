import {
  expectEveryTableIsolated,
  expectMigrationsReversible,
  testDatabase,
} from '@customer-platform/testing';
import { CORE_MIGRATIONS } from './core.migrations.js';

describe('the migrations of core', () => {
  it('run up, down and up again', () => expectMigrationsReversible('core', CORE_MIGRATIONS));

  it('leave no table that could show a row to another organization', async () => {
    const database = await testDatabase('core', CORE_MIGRATIONS);
    try {
      // Positions in the queue and records that nobody can read belong to no organization; workers alone see them.
      await expectEveryTableIsolated(database, { exempt: ['queue_positions', 'unreadable_records'] });
      const rows = await database.query<{ tablename: string; policyname: string }>(
        `SELECT tablename, policyname FROM pg_policies
          WHERE tablename IN ('queue_positions', 'unreadable_records') ORDER BY 1`,
      );
      expect(rows.map(({ policyname }) => policyname)).toEqual(['worker', 'worker']);
    } finally {
      await database.drop();
    }
  });
});
