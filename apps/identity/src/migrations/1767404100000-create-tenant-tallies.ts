import { execute, tenantTalliesTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What tenants have done within an hour or a minute (ADR 0405); the release before counts organizations alone. */
export class CreateTenantTallies1767404100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, tenantTalliesTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE tenant_tallies');
  }
}
