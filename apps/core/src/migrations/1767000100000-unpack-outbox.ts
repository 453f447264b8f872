import { execute, packedOutbox, unpackedOutbox } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What waits in the outbox is stored as it is: rows live for a moment, and were packed for it. */
export class UnpackOutbox1767000100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, unpackedOutbox());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, packedOutbox());
  }
}
