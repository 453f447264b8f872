import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONTACT_REFS = `CREATE TABLE contact_refs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'merged', 'deleted', 'purged')),
  merged_into uuid,
  version bigint NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** Erased contacts, as keyed hashes: nothing re-creates them, and nothing here tells who they were. */
const ERASED_CONTACTS = `CREATE TABLE erased_contacts (
  organization_id uuid NOT NULL,
  contact_hash bytea NOT NULL,
  PRIMARY KEY (organization_id, contact_hash)
)`;

/** What loyalty knows of contacts, followed from core's events. */
export class CreateContactRefs1763715601000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CONTACT_REFS,
      ...rowSecurity('contact_refs'),
      ERASED_CONTACTS,
      ...rowSecurity('erased_contacts'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE erased_contacts, contact_refs');
  }
}
