import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const READS = `CREATE TABLE notification_reads (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  -- Everything until then has been read; it only advances.
  read_until timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, contact_id)
)`;

/** How far a member has read the inbox. */
export class CreateNotificationReads1764650100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      READS,
      ...rowSecurity('notification_reads'),
      'CREATE INDEX notifications_by_age ON notifications (created_at)',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP INDEX notifications_by_age', 'DROP TABLE notification_reads']);
  }
}
