import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is known here of core's contacts: whether one is there, and into which it was merged. The ids of those that
 * are gone stay, so that a late event of an older version does not bring them back.
 */
const CONTACT_REFS = `CREATE TABLE contact_refs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'merged', 'deleted', 'erased', 'purged')),
  merged_into uuid,
  version integer NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT contact_refs_survivor CHECK ((state = 'merged') = (merged_into IS NOT NULL))
) WITH (fillfactor = 90)`;

/** References to contacts (crm.md §1). */
export class CreateContactRefs1764000001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [CONTACT_REFS, ...rowSecurity('contact_refs')]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE contact_refs']);
  }
}
