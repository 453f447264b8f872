import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How far a step of an erasure came: `{step, round, position}`. An id alone, as `cursor_id` was, cannot say it for what is
 * read in another order; the release before still writes that one.
 */
export class KeepPositionsOfErasures1767135000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE contact_erasures ADD COLUMN cursor jsonb']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE contact_erasures DROP COLUMN cursor']);
  }
}
