import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By which connection a session was begun, so that it ends with it; the release before writes none. */
export class RememberConnections1767104010000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE sessions ADD COLUMN connection_id uuid',
      `CREATE INDEX sessions_by_connection ON sessions (connection_id)
       WHERE connection_id IS NOT NULL AND ended_at IS NULL`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions DROP COLUMN connection_id');
  }
}
