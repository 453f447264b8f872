import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The tree of organizations. An organization's row belongs to itself: `organization_id` is its own id. `path` leads
 * from the root to it, itself included; depth is at most 5 (identity.md §2).
 */
const ORGANIZATIONS = `CREATE TABLE organizations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  parent_id uuid,
  path uuid[] NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9-]{3,63}$'),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  locale text NOT NULL,
  timezone text NOT NULL,
  settings jsonb NOT NULL DEFAULT '{}',
  -- The last suspension: what was accepted unconfirmed during it is not confirmed afterwards.
  suspended_at timestamptz(3),
  reactivated_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id),
  CONSTRAINT organizations_own_id CHECK (id = organization_id),
  CONSTRAINT organizations_path CHECK (path[cardinality(path)] = id AND cardinality(path) BETWEEN 1 AND 5),
  CONSTRAINT organizations_parent CHECK (parent_id IS NOT DISTINCT FROM path[cardinality(path) - 1]),
  CONSTRAINT organizations_parent_exists FOREIGN KEY (parent_id) REFERENCES organizations (organization_id)
)`;

/** identity.md §1, "Reach": rows of one's own organization and of those below it, never of one above or beside. */
const REACH = `CREATE POLICY reach ON organizations
  USING (nullif(current_setting('app.organization_id', true), '')::uuid = ANY (path))
  WITH CHECK (nullif(current_setting('app.organization_id', true), '')::uuid = ANY (path))`;

/**
 * How often the rights of an organization's principals have changed. `changed_by` is the transaction of the last
 * change: what the change feed's cursor is compared with (identity.md §8).
 */
const EPOCHS = `CREATE TABLE organization_epochs (
  organization_id uuid NOT NULL,
  epoch bigint NOT NULL,
  changed_by xid8 NOT NULL,
  PRIMARY KEY (organization_id)
) WITH (fillfactor = 50)`;

/** Organizations and the epochs of their rights. */
export class CreateOrganizations1763715601000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ORGANIZATIONS,
      `CREATE UNIQUE INDEX organizations_slug ON organizations (slug) WHERE deleted_at IS NULL`,
      // Two bootstraps in parallel: the second finds the root made.
      `CREATE UNIQUE INDEX organizations_one_root ON organizations ((parent_id IS NULL)) WHERE parent_id IS NULL`,
      `CREATE INDEX organizations_by_parent ON organizations (parent_id, created_at, id)`,
      `CREATE INDEX organizations_by_path ON organizations USING gin (path)`,
      ...rowSecurity('organizations', { worker: true }),
      REACH,
      EPOCHS,
      `CREATE INDEX organization_epochs_by_change ON organization_epochs (changed_by)`,
      ...rowSecurity('organization_epochs', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE organization_epochs, organizations');
  }
}
