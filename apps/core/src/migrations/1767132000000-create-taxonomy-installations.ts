import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What an organization has installed: one row a taxonomy, whatever its version. `updated_at` is by the clock of the
 * database: by it every instance finds what was installed lately.
 */
const INSTALLATIONS = `CREATE TABLE taxonomy_installations (
  organization_id uuid NOT NULL,
  slug text NOT NULL,
  version text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('off', 'warn', 'strict')),
  overrides jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (organization_id, slug)
)`;

/** Which event taxonomies organizations have installed, and how strictly. */
export class CreateTaxonomyInstallations1767132000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      INSTALLATIONS,
      'CREATE INDEX taxonomy_installations_by_change ON taxonomy_installations (updated_at)',
      ...rowSecurity('taxonomy_installations', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE taxonomy_installations']);
  }
}
