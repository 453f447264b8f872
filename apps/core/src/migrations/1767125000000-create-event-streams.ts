import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who listens to an organization's events (core.md §12a), so that all instances count alike. Unlogged: a row is written every
 * three seconds, and after a crash of the server every reader comes back by itself.
 */
const EVENT_STREAMS = `CREATE UNLOGGED TABLE event_streams (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50)`;

/** The streams that are open. */
export class CreateEventStreams1767125000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [EVENT_STREAMS, ...rowSecurity('event_streams', { worker: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE event_streams']);
  }
}
