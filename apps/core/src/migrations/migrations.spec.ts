import {
  expectEveryTableIsolated,
  expectForeignKeysSeek,
  expectMigrationsReversible,
  testDatabase,
} from '@customer-platform/testing';
import { CORE_MIGRATIONS } from './core.migrations.js';

describe('the migrations of core', () => {
  it('run up, down and up again', () => expectMigrationsReversible('core', CORE_MIGRATIONS));

  it('leave every foreign key an index that it looks up by', async () => {
    const database = await testDatabase('core', CORE_MIGRATIONS);
    try {
      await expectForeignKeysSeek(database);
    } finally {
      await database.drop();
    }
  });

  it('leave no table that could show a row to another organization', async () => {
    const database = await testDatabase('core', CORE_MIGRATIONS);
    try {
      // Positions in the queue, records that nobody can read, the service's own keys and its instances belong to no
      // organization; workers alone see them.
      const exempt = [
        'instances',
        'queue_positions',
        'rate_limit_instances',
        'segment_evaluators',
        'signing_keys',
        'unreadable_records',
      ];
      await expectEveryTableIsolated(database, { exempt });
      const rows = await database.query<{ tablename: string; policyname: string }>(
        `SELECT tablename, policyname FROM pg_policies
          WHERE tablename = ANY($1) ORDER BY 1`,
        [exempt],
      );
      expect(rows.map(({ policyname }) => policyname)).toEqual(exempt.map(() => 'worker'));
    } finally {
      await database.drop();
    }
  });
});
