import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `field_times` holds when each field was last said to be what it is, so that a late identify never overwrites what
 * is newer. `email_normal` is the address as it is matched.
 */
const CONTACTS = `CREATE TABLE contacts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  email text,
  email_normal text,
  phone text,
  first_name text,
  last_name text,
  birth_date date,
  locale text,
  timezone text,
  country text,
  attributes jsonb NOT NULL DEFAULT '{}',
  field_times jsonb NOT NULL DEFAULT '{"fields": {}, "attributes": {}}',
  version integer NOT NULL DEFAULT 1,
  source text NOT NULL,
  merged_into uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at timestamptz(3),
  erased_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/**
 * When a contact was last seen, apart from the contact: it changes with every event, and an update of the contact
 * would renew an entry in each of its indexes. Its row is also what an event locks of an existing contact, so that
 * a purge or an erasure, which takes the row away first, never passes an event that is being stored.
 */
const CONTACT_ACTIVITY = `CREATE TABLE contact_activity (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, contact_id),
  CONSTRAINT contact_activity_contact FOREIGN KEY (organization_id, contact_id)
    REFERENCES contacts (organization_id, id) ON DELETE CASCADE
)`;

const IDENTITIES = `CREATE TABLE identities (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  type text NOT NULL,
  value text NOT NULL,
  normal_value text NOT NULL,
  verified boolean NOT NULL DEFAULT false,
  source text NOT NULL,
  first_seen_at timestamptz(3) NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT identities_owner UNIQUE (organization_id, type, normal_value),
  CONSTRAINT identities_contact FOREIGN KEY (organization_id, contact_id)
    REFERENCES contacts (organization_id, id)
) WITH (fillfactor = 90)`;

/** Contacts, when they were last seen, and the identities by which events find them. */
export class CreateContacts1764000001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CONTACTS,
      'CREATE INDEX contacts_by_creation ON contacts (organization_id, created_at, id)',
      'CREATE INDEX contacts_by_update ON contacts (organization_id, updated_at, id)',
      'CREATE INDEX contacts_by_last_name ON contacts (organization_id, last_name, id)',
      'CREATE INDEX contacts_by_external_id ON contacts (organization_id, external_id) WHERE external_id IS NOT NULL',
      'CREATE INDEX contacts_by_email ON contacts (organization_id, email_normal) WHERE email_normal IS NOT NULL',
      'CREATE INDEX contacts_by_phone ON contacts (organization_id, phone) WHERE phone IS NOT NULL',
      ...rowSecurity('contacts'),
      CONTACT_ACTIVITY,
      'CREATE INDEX contact_activity_by_time ON contact_activity (organization_id, last_seen_at, contact_id)',
      ...rowSecurity('contact_activity'),
      IDENTITIES,
      'CREATE INDEX identities_by_contact ON identities (organization_id, contact_id)',
      ...rowSecurity('identities'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE identities, contact_activity, contacts']);
  }
}
