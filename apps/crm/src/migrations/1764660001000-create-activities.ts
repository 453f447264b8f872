import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `origin_contact_id` is the contact an activity was written on: merges move it, their undo takes it back there.
 * `values` holds no nulls, so that a key that is there is a value.
 */
const ACTIVITIES = `CREATE TABLE activities (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  origin_contact_id uuid NOT NULL,
  type_id uuid NOT NULL,
  subject text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 200),
  description text CHECK (char_length(description) <= 10000),
  due_at timestamptz(3),
  assignee_id uuid,
  status text NOT NULL CHECK (status IN ('open', 'completed', 'cancelled')),
  outcome text,
  values jsonb NOT NULL,
  completed_at timestamptz(3),
  author_type text NOT NULL,
  author_id text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT activities_type FOREIGN KEY (organization_id, type_id) REFERENCES activity_types (organization_id, id),
  CONSTRAINT activities_completion CHECK ((status = 'completed') = (completed_at IS NOT NULL)),
  CONSTRAINT activities_outcome CHECK (outcome IS NULL OR status = 'completed')
)`;

const INDEXES: Readonly<Record<string, string>> = {
  creation: 'created_at, id',
  change: 'updated_at, id',
  due_date: 'due_at, id',
  completion: 'completed_at, id',
  contact: 'contact_id, created_at, id',
  type: 'type_id, created_at, id',
  assignee: 'assignee_id, created_at, id',
};

/** Activities with contacts (crm.md §2). */
export class CreateActivities1764660001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ACTIVITIES,
      ...Object.entries(INDEXES).map(
        ([name, columns]) => `CREATE INDEX activities_by_${name} ON activities (organization_id, ${columns})`,
      ),
      ...rowSecurity('activities'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE activities');
  }
}
