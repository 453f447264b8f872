import { execute, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a chunk of events of many organizations reads and writes, each statement for all of them at once. */
const TABLES = [
  'contacts',
  'contact_activity',
  'identities',
  'events',
  'usage_days',
  'segment_revisions',
  'segment_matches',
];

/** Lets the worker's statements carry the rows of several organizations; requests are bound to their own as before. */
export class OpenEventsToWorkers1766210000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, TABLES.map(workersSee));
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      TABLES.map((table) => `DROP POLICY worker ON ${table}`),
    );
  }
}
