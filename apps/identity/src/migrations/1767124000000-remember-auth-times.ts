import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a user authenticated at the provider of an SSO connection, where that says so; the release before writes none. */
export class RememberAuthTimes1767124000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['sessions', 'sign_ins'])
      await runner.query(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS auth_time timestamptz(3)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['sign_ins', 'sessions'])
      await runner.query(`ALTER TABLE ${table} DROP COLUMN auth_time`);
  }
}
