import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const ACTIVITY_TYPES = `CREATE TABLE activity_types (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  key text NOT NULL,
  name text NOT NULL,
  outcomes jsonb NOT NULL,
  outcome_required boolean NOT NULL,
  fields jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/** Types of activities (crm.md §2). */
export class CreateActivityTypes1764660000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ACTIVITY_TYPES,
      'CREATE UNIQUE INDEX activity_types_key ON activity_types (organization_id, key) WHERE deleted_at IS NULL',
      'CREATE INDEX activity_types_by_creation ON activity_types (organization_id, created_at, id)',
      'CREATE INDEX activity_types_by_change ON activity_types (organization_id, updated_at, id)',
      'CREATE INDEX activity_types_by_name ON activity_types (organization_id, name, id)',
      ...rowSecurity('activity_types'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE activity_types');
  }
}
