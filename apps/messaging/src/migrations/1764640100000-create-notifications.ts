import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const NOTIFICATIONS = `CREATE TABLE notifications (
  organization_id uuid NOT NULL,
  -- Of the send: a hand-off that is repeated leaves one row.
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  url text,
  topic text,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** What a member finds in the inbox. */
export class CreateNotifications1764640100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      NOTIFICATIONS,
      'CREATE INDEX notifications_by_contact ON notifications (organization_id, contact_id, created_at, id)',
      ...rowSecurity('notifications', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE notifications');
  }
}
