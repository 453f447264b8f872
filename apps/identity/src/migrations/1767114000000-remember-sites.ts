import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** From which IPv6 /48 a password was tried; the release before writes none. */
export class RememberSites1767114000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE password_attempts ADD COLUMN IF NOT EXISTS site text');
    await createIndexConcurrently(
      runner,
      'password_attempts_by_site',
      'ON password_attempts (site, tried_at) WHERE site IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE password_attempts DROP COLUMN site');
  }
}
