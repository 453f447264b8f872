import { execute, installationTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which installation the database is of. */
export class CreateInstallation1768388000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, installationTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE installation']);
  }
}
