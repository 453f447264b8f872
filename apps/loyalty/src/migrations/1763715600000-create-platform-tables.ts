import { dropPlatformTables, execute, platformTables } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Outbox, inbox, parked events, audit rows, kept answers. */
export class CreatePlatformTables1763715600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, platformTables());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, dropPlatformTables());
  }
}
