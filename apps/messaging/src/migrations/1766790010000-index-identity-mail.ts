import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the lane of identity's mail is claimed by; its number as it is now. */
export class IndexIdentityMail1766790010000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'sends_due_identity',
      'ON sends (organization_id, due_at) WHERE lane = 2 AND due_at IS NOT NULL',
    );
    // Reads all rows and keeps nobody from any.
    await runner.query('ALTER TABLE sends VALIDATE CONSTRAINT sends_source_check');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sends_due_identity');
  }
}
