import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whose time has come, organization by organization: by time alone one with many of them stands before all others. The
 * index by time stays for the release before.
 */
export class IndexDuesOfSegments1767147000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'segment_dues_by_organization',
      'ON segment_dues (organization_id, due_at)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX segment_dues_by_organization');
  }
}
