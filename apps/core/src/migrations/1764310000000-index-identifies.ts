import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `GET /v1/core/events?type=identify`: few events are identifies, and without an index all the others of the
 * organization were read in the order of the list (800 ms of 4 million, 6 ms with it).
 */
export class IndexIdentifies1764310000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX events_identifies ON events (organization_id, occurred_at, id) WHERE type = 'identify'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX events_identifies');
  }
}
