import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Merges, done and undone. `changes` has what a merge made of the survivor, value by value, so that an undo gives back
 * what nobody has written since; `outcome` is what the call answered. Both hold values of people, and go with them.
 * `place` orders the merges of an organization: they are undone last first.
 */
const CONTACT_MERGES = `CREATE TABLE contact_merges (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  place bigint GENERATED ALWAYS AS IDENTITY,
  survivor_id uuid NOT NULL,
  merged_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('merged', 'undone')),
  reason text,
  changes jsonb NOT NULL,
  outcome jsonb NOT NULL,
  seen_before timestamptz(3) NOT NULL,
  merged_at timestamptz(3) NOT NULL,
  undone_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT contact_merges_survivor FOREIGN KEY (organization_id, survivor_id)
    REFERENCES contacts (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT contact_merges_merged FOREIGN KEY (organization_id, merged_id)
    REFERENCES contacts (organization_id, id) ON DELETE CASCADE
)`;

/**
 * Where a row that a merge moved was before: what an undo goes by. Of several merges, one into another, the first:
 * whose it was by itself. Null as long as it is where it came into being.
 */
const ORIGINS = ['identities', 'events'].map((table) => `ALTER TABLE ${table} ADD COLUMN origin_id uuid`);

/** Contacts merge, and part again. */
export class CreateMerges1764110001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CONTACT_MERGES,
      'CREATE INDEX contact_merges_by_survivor ON contact_merges (organization_id, survivor_id, place)',
      "CREATE UNIQUE INDEX contact_merges_once ON contact_merges (organization_id, merged_id) WHERE status = 'merged'",
      ...rowSecurity('contact_merges'),
      ...ORIGINS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE events DROP COLUMN origin_id',
      'ALTER TABLE identities DROP COLUMN origin_id',
      'DROP TABLE contact_merges',
    ]);
  }
}
