import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The latest instant at which the segments of an organization were evaluated: a clock that was set back is told by it. */
const CLOCKS = `CREATE TABLE segment_clocks (
  organization_id uuid PRIMARY KEY,
  reached_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50)`;

/** Without an index on the time, so that a row moves within its page: there is one row for an organization. */
export class KeepTheClockOfSegments1764611000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [CLOCKS, ...rowSecurity('segment_clocks', { worker: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE segment_clocks']);
  }
}
