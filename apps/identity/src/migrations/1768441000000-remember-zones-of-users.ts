import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The time zone that a person has said. The release before neither writes nor reads it. */
export class RememberZonesOfUsers1768441000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE users ADD COLUMN timezone text']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE users DROP COLUMN timezone']);
  }
}
