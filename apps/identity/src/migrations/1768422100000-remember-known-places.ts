import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * By which browser or network that is known a password was tried, and when its owner was last told of wrong ones. The
 * release before writes none of it, and counts all tries of an address together.
 */
export class RememberKnownPlaces1768422100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE password_attempts ADD COLUMN known_by text',
      'ALTER TABLE password_reset_requests ADD COLUMN reason text',
      'ALTER TABLE password_resets ADD COLUMN about text',
      'ALTER TABLE users ADD COLUMN wrong_passwords_told_at timestamptz(3)',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE users DROP COLUMN wrong_passwords_told_at',
      'ALTER TABLE password_resets DROP COLUMN about',
      'ALTER TABLE password_reset_requests DROP COLUMN reason',
      'ALTER TABLE password_attempts DROP COLUMN known_by',
    ]);
  }
}
