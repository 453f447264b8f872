import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const WAITS = `CREATE TABLE event_waits (
  organization_id uuid NOT NULL,
  event_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  -- What rules see of it.
  event jsonb NOT NULL,
  -- After it the contact is given up.
  until timestamptz(3) NOT NULL,
  -- When its contact is looked for next; its coming makes it due.
  due_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, event_id)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02)`;

/** Events that came before the contact they are about. */
export class CreateEventWaits1764740100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      WAITS,
      'CREATE INDEX event_waits_by_contact ON event_waits (organization_id, contact_id)',
      'CREATE INDEX event_waits_due ON event_waits (organization_id, due_at)',
      ...rowSecurity('event_waits', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE event_waits');
  }
}
