import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What nobody believes is kept with all that belief would need: its key, and the proof it came with. */
export class KeepProofsOfUnreadableRecords1768413000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE unreadable_records ADD COLUMN key text, ADD COLUMN proof text']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE unreadable_records DROP COLUMN key, DROP COLUMN proof']);
  }
}
