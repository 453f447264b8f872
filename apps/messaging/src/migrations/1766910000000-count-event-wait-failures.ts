import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How often an event that waits has failed to be routed; the release before does not count. */
export class CountEventWaitFailures1766910000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE event_waits ADD COLUMN failures integer NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE event_waits DROP COLUMN failures');
  }
}
