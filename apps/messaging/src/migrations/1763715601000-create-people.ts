import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const ORGANIZATIONS = `CREATE TABLE organizations (
  organization_id uuid PRIMARY KEY,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  -- Grows with every change of the organization's rules: what consumers keep of them is dated by it.
  routing_version bigint NOT NULL DEFAULT 0
)`;

const CONTACTS = `CREATE TABLE contacts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  version bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'merged', 'deleted', 'erased')),
  merged_into uuid,
  external_id text,
  email text,
  phone text,
  first_name text,
  last_name text,
  locale text,
  timezone text,
  country text,
  attributes jsonb NOT NULL DEFAULT '{}',
  -- As matched: what an address given in a send is looked up by.
  email_canonical text,
  phone_canonical text,
  PRIMARY KEY (organization_id, id)
)`;

const CONSENTS = `CREATE TABLE consents (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  purpose text NOT NULL,
  -- '' stands for all channels.
  channel text NOT NULL,
  status text NOT NULL CHECK (status IN ('granted', 'denied', 'withdrawn', 'expired')),
  occurred_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, contact_id, purpose, channel)
)`;

/** What messaging knows of organizations and people, followed from other modules' events. */
export class CreatePeople1763715601000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ORGANIZATIONS,
      ...rowSecurity('organizations', { worker: true }),
      CONTACTS,
      'CREATE INDEX contacts_by_external_id ON contacts (organization_id, external_id)',
      'CREATE INDEX contacts_by_email ON contacts (organization_id, email_canonical)',
      'CREATE INDEX contacts_by_phone ON contacts (organization_id, phone_canonical)',
      'CREATE INDEX contacts_by_survivor ON contacts (organization_id, merged_into) WHERE merged_into IS NOT NULL',
      ...rowSecurity('contacts', { worker: true }),
      CONSENTS,
      ...rowSecurity('consents', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE organizations, contacts, consents');
  }
}
