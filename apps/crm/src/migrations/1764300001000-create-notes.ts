import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `origin_contact_id` is the contact a note was written on: merges move the note, their undo takes it back there. */
const NOTES = `CREATE TABLE notes (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  origin_contact_id uuid NOT NULL,
  body text NOT NULL CHECK (char_length(body) BETWEEN 1 AND 10000),
  pinned boolean NOT NULL,
  author_type text NOT NULL,
  author_id text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/** Notes on contacts (crm.md §2). */
export class CreateNotes1764300001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      NOTES,
      'CREATE INDEX notes_by_creation ON notes (organization_id, created_at, id)',
      'CREATE INDEX notes_by_change ON notes (organization_id, updated_at, id)',
      'CREATE INDEX notes_by_contact ON notes (organization_id, contact_id, created_at, id)',
      'CREATE INDEX notes_by_author ON notes (organization_id, author_id, created_at, id)',
      ...rowSecurity('notes'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE notes');
  }
}
