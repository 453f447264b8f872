import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is to end is looked for among the open sessions, what has had its time among the ended ones. No column that a
 * refresh writes stands in an index, so that its row stays on its page.
 */
export class IndexOpenAndEndedSessions1767122000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const open = 'ON sessions (organization_id) WHERE ended_at IS NULL';
    await createIndexConcurrently(runner, 'sessions_open', open);
    const ended = 'ON sessions (ended_at) WHERE ended_at IS NOT NULL';
    await createIndexConcurrently(runner, 'sessions_by_end', ended);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX IF EXISTS sessions_open, sessions_by_end');
  }
}
