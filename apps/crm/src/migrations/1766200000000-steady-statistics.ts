import { execute, steadyStatistics, usualStatistics } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is sought by whole keys alone. */
const SOUGHT = ['contact_refs'];

/** What is sought by the contacts that a batch of core's events is about, and listed by whatever callers filter by. */
const LISTED = ['notes', 'activities', 'list_members'];

/** Plans for an organization that came since the last ANALYZE as for all others. */
export class SteadyStatistics1766200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...SOUGHT.flatMap((table) => steadyStatistics(table, 'one')),
      ...LISTED.flatMap((table) => steadyStatistics(table, 'many')),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      [...SOUGHT, ...LISTED].flatMap((table) => usualStatistics(table)),
    );
  }
}
