import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was asked of a provider, to be held against its answer. The release before asks and does not compare. */
export class RememberHowFreshASignInIsToBe1768422000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `ALTER TABLE sso_requests ADD COLUMN asked_login boolean NOT NULL DEFAULT false,
                                ADD COLUMN max_age_s integer`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE sso_requests DROP COLUMN asked_login, DROP COLUMN max_age_s']);
  }
}
