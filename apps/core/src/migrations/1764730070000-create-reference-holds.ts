import { dropReferenceHoldsTable, execute, referenceHoldsTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What other modules are about to purge: no new row here may point to it. */
export class CreateReferenceHolds1764730070000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, referenceHoldsTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, dropReferenceHoldsTable());
  }
}
