import { execute, steadyStatistics, usualStatistics } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What each batch of events looks into by a whole key. */
const TABLES = [
  'contact_refs',
  'erased_contacts',
  'subjects',
  'transactions',
  'lines',
  'links',
  'balances',
  'lot_balances',
];

/** Plans of the ledger that do not depend on when ANALYZE last saw an organization. */
export class SteadyStatistics1764720000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      TABLES.flatMap((table) => steadyStatistics(table, 'one')),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      TABLES.flatMap((table) => usualStatistics(table)),
    );
  }
}
