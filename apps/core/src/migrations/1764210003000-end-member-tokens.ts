import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a contact was last deleted or restored: member tokens from before it stay ended. */
export class EndMemberTokens1764210003000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE contacts ADD COLUMN members_from timestamptz(3)']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE contacts DROP COLUMN members_from']);
  }
}
