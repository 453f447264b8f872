import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Within its client's grace a refresh token is taken once more: `repeated` says that it was. */
export class RepeatRefreshesOnce1767111100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE oauth_tokens ADD COLUMN repeated boolean NOT NULL DEFAULT false']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE oauth_tokens DROP COLUMN repeated');
  }
}
