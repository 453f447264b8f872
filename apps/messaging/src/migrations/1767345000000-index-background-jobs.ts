import {
  createIndexConcurrently,
  execute,
  steadyStatistics,
  usualStatistics,
} from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'background_jobs';

/**
 * Finds the job of an organization that waits longest, and when one of them was worked on last; planned so for an
 * organization, too, whose jobs came since the last ANALYZE.
 */
export class IndexBackgroundJobs1767345000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'background_jobs_by_work',
      'ON background_jobs (organization_id, worked_at)',
    );
    await execute(runner, steadyStatistics(TABLE, 'one'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [...usualStatistics(TABLE), 'DROP INDEX background_jobs_by_work']);
  }
}
