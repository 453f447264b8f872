import { dropPlatformTables, execute, platformTables } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Outbox, inbox, parked events, audit entries and kept answers: what every module's database has. */
export class CreatePlatformTables1764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, platformTables());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, dropPlatformTables());
  }
}
