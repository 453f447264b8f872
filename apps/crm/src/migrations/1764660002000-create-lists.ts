import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const LISTS = `CREATE TABLE lists (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  description text CHECK (char_length(description) <= 1000),
  member_count integer NOT NULL CHECK (member_count BETWEEN 0 AND 100000),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 80)`;

/**
 * One row for each contact that was added. After a merge two may stand for the same contact: only the earlier is
 * shown and counted, the other is kept for the undo, which parts them again.
 */
const LIST_MEMBERS = `CREATE TABLE list_members (
  organization_id uuid NOT NULL,
  list_id uuid NOT NULL,
  origin_contact_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  shown boolean NOT NULL,
  added_at timestamptz(3) NOT NULL,
  added_by_type text NOT NULL,
  added_by_id text NOT NULL,
  PRIMARY KEY (organization_id, list_id, origin_contact_id),
  CONSTRAINT list_members_list FOREIGN KEY (organization_id, list_id) REFERENCES lists (organization_id, id)
)`;

/** Lists and their members (crm.md §2). */
export class CreateLists1764660002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      LISTS,
      'CREATE UNIQUE INDEX lists_name ON lists (organization_id, lower(name)) WHERE deleted_at IS NULL',
      'CREATE INDEX lists_by_creation ON lists (organization_id, created_at, id)',
      'CREATE INDEX lists_by_change ON lists (organization_id, updated_at, id)',
      'CREATE INDEX lists_by_name ON lists (organization_id, name, id)',
      ...rowSecurity('lists'),
      LIST_MEMBERS,
      `CREATE UNIQUE INDEX list_members_shown ON list_members (organization_id, list_id, contact_id) WHERE shown`,
      `CREATE INDEX list_members_by_time ON list_members (organization_id, list_id, added_at, contact_id) WHERE shown`,
      'CREATE INDEX list_members_by_contact ON list_members (organization_id, contact_id, list_id)',
      ...rowSecurity('list_members'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE list_members', 'DROP TABLE lists']);
  }
}
