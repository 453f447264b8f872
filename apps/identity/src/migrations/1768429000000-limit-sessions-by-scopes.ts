import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a client has asked for at the API; null: all that its user may do, as of every session of the release before. */
export class LimitSessionsByScopes1768429000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE sessions ADD COLUMN api_scopes text[]']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE sessions DROP COLUMN api_scopes']);
  }
}
