import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const FUNCTIONS = ['demand_transactions()', 'demand_rules_and_reversed()', 'keep_rules_of_transactions()'];

/**
 * The ledger's triggers find their tables whatever the session's `search_path` is: `pg_restore` empties it, and a
 * superuser's restore of rows into tables with triggers was refused.
 */
export class FindLedgerBySchema1767280000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      FUNCTIONS.map((name) => `ALTER FUNCTION ${name} SET search_path = public, pg_temp`),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      FUNCTIONS.map((name) => `ALTER FUNCTION ${name} RESET search_path`),
    );
  }
}
