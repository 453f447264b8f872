import { execute, settingsReadOnce, settingsReadPerRow } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What usage sums, a row for each day and partition; of what was before the range all there is. */
const TABLES = ['usage_days', 'usage_acceptances'];

/** A sum over a thousand days asks for its organization once instead of twelve thousand times. */
export class SumUsageForLess1767145000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      TABLES.flatMap((table) => settingsReadOnce(table, { worker: true })),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      TABLES.flatMap((table) => settingsReadPerRow(table, { worker: true })),
    );
  }
}
