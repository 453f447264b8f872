import { execute, retentionPeriodsTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For how long organizations keep things, and when the content of a send was removed by that. */
export class CreateRetention1767137200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...retentionPeriodsTable(),
      'ALTER TABLE sends ADD COLUMN content_removed_at timestamptz(3)',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE sends DROP COLUMN content_removed_at',
      'DROP TABLE retention_periods',
    ]);
  }
}
