import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What retention empties: the letters of an organization that hold something, those that failed longest ago first. */
export class IndexLettersByAge1767137100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'dead_letters_full_by_age',
      'ON dead_letters (organization_id, last_failed_at, id) WHERE payload IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX dead_letters_full_by_age');
  }
}
