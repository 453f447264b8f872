import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Files that wait are counted by tenant, too; those that the release before has taken are so by organization alone. */
export class NoteTenantsOfImports1768428000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE imports ADD COLUMN IF NOT EXISTS tenant_id uuid');
    const on = `ON imports (tenant_id) WHERE state IN ('queued', 'running')`;
    await createIndexConcurrently(runner, 'imports_waiting_of_tenant', on);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE imports DROP COLUMN tenant_id');
  }
}
