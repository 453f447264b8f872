import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const PARTITIONS = Array.from({ length: 16 }, (_, remainder) => `p${String(remainder).padStart(2, '0')}`);

/**
 * Events by when they were stored, whoever's. Rows of one time stand together, since a table grows at its end: a summary
 * of each stretch of it finds the latest, and what is added at the end touches no summary at all. The server sums up a
 * stretch once it is full; until then it is read. A partition at a time, without keeping anybody from writing.
 */
const DEFINITION = 'USING brin (created_at) WITH (pages_per_range = 64, autosummarize = on)';

/** What the stream of events reads by. */
export class IndexEventsByCreation1767125100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const suffix of PARTITIONS)
      await createIndexConcurrently(
        runner,
        `events_by_creation_${suffix}`,
        `ON events_${suffix} ${DEFINITION}`,
      );
    await runner.query(`CREATE INDEX IF NOT EXISTS events_by_creation ON ONLY events ${DEFINITION}`);
    for (const suffix of PARTITIONS)
      await runner.query(`ALTER INDEX events_by_creation ATTACH PARTITION events_by_creation_${suffix}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX events_by_creation');
  }
}
