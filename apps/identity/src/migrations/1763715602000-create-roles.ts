import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const ROLES = `CREATE TABLE roles (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  description text CHECK (char_length(description) <= 500),
  kind text NOT NULL CHECK (kind IN ('human', 'machine')),
  -- Names a built-in role; its permissions stand in built_in_permissions, once for all organizations.
  key text,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT roles_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id),
  CONSTRAINT roles_built_in_stay CHECK (key IS NULL OR deleted_at IS NULL)
)`;

/** A permission taken away keeps its row: what was accepted unconfirmed while it was held is confirmed by it. */
const ROLE_PERMISSIONS = `CREATE TABLE role_permissions (
  organization_id uuid NOT NULL,
  role_id uuid NOT NULL,
  permission text NOT NULL,
  granted_at timestamptz(3) NOT NULL,
  removed_at timestamptz(3),
  PRIMARY KEY (organization_id, role_id, permission, granted_at),
  CONSTRAINT role_permissions_of_role FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id)
)`;

/** What the built-in roles of every organization hold, following the registry of the build. */
const BUILT_IN_PERMISSIONS = `CREATE TABLE built_in_permissions (
  key text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('human', 'machine')),
  permission text NOT NULL,
  PRIMARY KEY (key, kind, permission)
)`;

/** Roles and what they permit. */
export class CreateRoles1763715602000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ROLES,
      `CREATE UNIQUE INDEX roles_name ON roles (organization_id, lower(name)) WHERE deleted_at IS NULL`,
      `CREATE UNIQUE INDEX roles_key ON roles (organization_id, key, kind) WHERE key IS NOT NULL`,
      ...rowSecurity('roles', { worker: true }),
      ROLE_PERMISSIONS,
      `CREATE UNIQUE INDEX role_permissions_held ON role_permissions (organization_id, role_id, permission)
       WHERE removed_at IS NULL`,
      ...rowSecurity('role_permissions', { worker: true }),
      BUILT_IN_PERMISSIONS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE built_in_permissions, role_permissions, roles');
  }
}
