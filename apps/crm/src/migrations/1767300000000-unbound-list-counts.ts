import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How many contacts a list may have is what callers are told when they add to it (crm.md §2). An undone merge parts two
 * contacts of a full list, and is no addition: nothing refuses what was there before.
 */
export class UnboundListCounts1767300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      // All rows pass: they held to the narrower one.
      `ALTER TABLE lists DROP CONSTRAINT lists_member_count_check,
         ADD CONSTRAINT lists_member_count_check CHECK (member_count >= 0) NOT VALID`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      // Lists that came to have more keep what they have.
      `ALTER TABLE lists DROP CONSTRAINT lists_member_count_check,
         ADD CONSTRAINT lists_member_count_check CHECK (member_count BETWEEN 0 AND 100000) NOT VALID`,
    ]);
  }
}
