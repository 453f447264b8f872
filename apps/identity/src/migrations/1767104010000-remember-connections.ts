import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * By which connection a session was begun, so that it ends with it; the release before writes none. Sessions of a
 * connection may be in other organizations than the connection's own.
 */
export class RememberConnections1767104010000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions ADD COLUMN IF NOT EXISTS connection_id uuid');
    await createIndexConcurrently(
      runner,
      'sessions_by_connection',
      'ON sessions (connection_id) WHERE connection_id IS NOT NULL AND ended_at IS NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions DROP COLUMN connection_id');
  }
}
