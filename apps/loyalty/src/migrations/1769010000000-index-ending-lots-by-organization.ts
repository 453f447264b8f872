import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The sweep ends the lots of the organization whose turn it is, however many of others are due. */
export class IndexEndingLotsByOrganization1769010000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'lot_balances_ending_by_owner',
      'ON lot_balances (organization_id, expires_at) WHERE remaining > 0 AND expires_at IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX lot_balances_ending_by_owner');
  }
}
