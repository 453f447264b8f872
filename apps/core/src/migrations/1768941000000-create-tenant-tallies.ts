import { execute, tenantTalliesTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts what organizations and tenants have looked up within a minute; the release before has no such route. */
export class CreateTenantTallies1768941000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, tenantTalliesTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE tenant_tallies');
  }
}
