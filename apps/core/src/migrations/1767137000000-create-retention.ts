import { execute, retentionPeriodsTable, rowSecurity, steadyStatistics } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a removed event leaves behind, for ever: by its id a repeat is known as one, by the fingerprint of its body as the
 * same one. Neither says what it was, nor of whom.
 */
const REMOVED_EVENTS = `CREATE TABLE removed_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  fingerprint uuid NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** For how long organizations keep things, and what is left of events whose time is over. */
export class CreateRetention1767137000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...retentionPeriodsTable(),
      REMOVED_EVENTS,
      ...steadyStatistics('removed_events', 'many'),
      ...rowSecurity('removed_events', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE removed_events, retention_periods']);
  }
}
