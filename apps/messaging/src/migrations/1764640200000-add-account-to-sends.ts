import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which sends left in the platform's own account. Nothing sent before is reported on there: false, for them. */
export class AddAccountToSends1764640200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE sends ADD COLUMN by_platform boolean NOT NULL DEFAULT false',
      'CREATE INDEX sends_of_platform ON sends (provider_message_id, organization_id) WHERE by_platform',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sends_of_platform');
    await runner.query('ALTER TABLE sends DROP COLUMN by_platform');
  }
}
