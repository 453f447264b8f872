import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far the verification of a chain has come: to the row of a checkpoint, or 0 before it begins. */
export class KeepPositionsOfVerifications1767148000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE audit_chains ADD COLUMN walked_seq bigint NOT NULL DEFAULT 0']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE audit_chains DROP COLUMN walked_seq']);
  }
}
