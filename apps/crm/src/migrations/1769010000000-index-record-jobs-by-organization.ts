import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A job finds the next item of the organization whose turn it is, however many the others have. The indexes by time stay for who waits. */
export class IndexRecordJobsByOrganization1769010000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'contact_record_jobs_by_owner',
      'ON contact_record_jobs (organization_id, moved_at)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX contact_record_jobs_by_owner');
  }
}
