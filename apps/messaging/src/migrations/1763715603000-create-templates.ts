import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONTENT = `
  default_locale text NOT NULL,
  locales jsonb NOT NULL,
  variables jsonb NOT NULL DEFAULT '{}',
  strict boolean NOT NULL DEFAULT true`;

const TEMPLATES = `CREATE TABLE templates (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  channel text NOT NULL,
  ${CONTENT},
  version integer NOT NULL,
  published_version integer,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

const TEMPLATE_VERSIONS = `CREATE TABLE template_versions (
  organization_id uuid NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  channel text NOT NULL,
  ${CONTENT},
  -- What is rendered: the parts of each locale with those that were derived from others.
  parts jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, template_id, version),
  FOREIGN KEY (organization_id, template_id) REFERENCES templates ON DELETE CASCADE
)`;

const IMMUTABLE_VERSIONS = `DO $$ BEGIN
  EXECUTE format('REVOKE UPDATE, TRUNCATE ON template_versions FROM %I', regexp_replace(current_user, '_owner$', '_app'));
END $$`;

/** Templates and their immutable versions. */
export class CreateTemplates1763715603000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      TEMPLATES,
      'CREATE UNIQUE INDEX templates_name ON templates (organization_id, name) WHERE deleted_at IS NULL',
      'CREATE INDEX templates_by_time ON templates (organization_id, created_at, id)',
      ...rowSecurity('templates', { worker: true }),
      TEMPLATE_VERSIONS,
      IMMUTABLE_VERSIONS,
      ...rowSecurity('template_versions', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE template_versions, templates');
  }
}
