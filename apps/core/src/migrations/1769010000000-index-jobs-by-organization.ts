import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A job finds the next item of the organization whose turn it is, however many the others have. The indexes by time stay for who waits. */
export class IndexJobsByOrganization1769010000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'consent_expirations_by_turn',
      'ON consent_expirations (organization_id, expires_at)',
    );
    await createIndexConcurrently(
      runner,
      'contact_erasures_by_turn',
      "ON contact_erasures (organization_id, moved_at) WHERE step <> 'done'",
    );
    await createIndexConcurrently(
      runner,
      'subject_requests_by_turn',
      "ON subject_requests (organization_id, due_at) WHERE state IN ('verifying', 'in_progress')",
    );
    await createIndexConcurrently(
      runner,
      'subject_request_receipts_by_turn',
      "ON subject_request_receipts (organization_id, received_at) WHERE state = 'received'",
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX consent_expirations_by_turn');
    await runner.query('DROP INDEX contact_erasures_by_turn');
    await runner.query('DROP INDEX subject_requests_by_turn');
    await runner.query('DROP INDEX subject_request_receipts_by_turn');
  }
}
