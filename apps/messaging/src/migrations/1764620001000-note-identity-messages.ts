import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an organization was given identity's templates and rules: once, whatever becomes of them afterwards. */
export class NoteIdentityMessages1764620001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE organizations ADD COLUMN identity_messages_at timestamptz(3)',
      `CREATE INDEX sends_unfinished_by_link ON sends (organization_id, (recipient -> 'link' ->> 'id'))
       WHERE due_at IS NOT NULL AND recipient ? 'link'`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP INDEX sends_unfinished_by_link',
      'ALTER TABLE organizations DROP COLUMN identity_messages_at',
    ]);
  }
}
