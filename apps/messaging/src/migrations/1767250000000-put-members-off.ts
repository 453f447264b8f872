import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whom a run looks at again later, and how often it has; the release before looks at all at once. */
export class PutMembersOff1767250000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Constant defaults: no row is written.
    await runner.query(
      `ALTER TABLE campaign_members ADD COLUMN tries smallint NOT NULL DEFAULT 0,
         ADD COLUMN look_at timestamptz(3) NOT NULL DEFAULT '-infinity'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE campaign_members DROP COLUMN tries, DROP COLUMN look_at');
  }
}
