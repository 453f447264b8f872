import { rowSecurity, steadyStatistics } from '@customer-platform/database';

/**
 * What is known of core's contacts: whether one is there, and into which it was merged. The ids of those that are gone
 * stay, so that a late event of an older version does not bring them back.
 */
const CONTACT_REFS = `CREATE TABLE contact_refs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'merged', 'deleted', 'erased', 'purged')),
  merged_into uuid,
  version bigint NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT contact_refs_survivor CHECK ((state = 'merged') = (merged_into IS NOT NULL))
) WITH (fillfactor = 90)`;

/** Where not even the id of an erased contact may stay: nothing re-creates it, and nothing tells who it was. */
const ERASED_CONTACTS = `CREATE TABLE erased_contacts (
  organization_id uuid NOT NULL,
  contact_hash bytea NOT NULL,
  PRIMARY KEY (organization_id, contact_hash)
)`;

/**
 * The statements that make the table of a module which follows contacts from now on; for a migration of its own. What
 * `ContactRefs` asks of an older table is these columns, with the key.
 */
export function contactRefsTable(): string[] {
  return [
    CONTACT_REFS,
    'CREATE INDEX contact_refs_by_survivor ON contact_refs (organization_id, merged_into) WHERE merged_into IS NOT NULL',
    ...rowSecurity('contact_refs', { worker: true }),
    ...steadyStatistics('contact_refs', 'one'),
  ];
}

/** As {@link contactRefsTable}, for a module that remembers erased contacts by their hashes. */
export function erasedContactsTable(): string[] {
  return [
    ERASED_CONTACTS,
    ...rowSecurity('erased_contacts', { worker: true }),
    ...steadyStatistics('erased_contacts', 'one'),
  ];
}
