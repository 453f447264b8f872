import { execute, signingKeysTable } from '@customer-platform/database';
import { erasureReceiptsTable } from '@customer-platform/erasure';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The receipts of erasures, and the keys that sign them. */
export class CreateErasureReceipts1764680000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [...signingKeysTable(), ...erasureReceiptsTable()]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE erasure_receipts', 'DROP TABLE signing_keys']);
  }
}
