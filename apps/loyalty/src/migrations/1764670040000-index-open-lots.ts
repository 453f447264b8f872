import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What debits take from, in their order, without the lots of years that are empty; and the rows of a reference, which
 * callers look for without naming a contact.
 */
export class IndexOpenLots1764670040000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `CREATE INDEX lot_balances_open ON lot_balances (organization_id, subject_ref, expires_at, created_at, lot_id)
        WHERE remaining > 0`,
      'CREATE INDEX links_by_reference ON links (organization_id, reference) WHERE reference IS NOT NULL',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX links_by_reference, lot_balances_open');
  }
}
