import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const DOMAINS = `CREATE TABLE sender_domains (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- In lower case and A-labels.
  domain text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'verified', 'failed')),
  -- Newest first: a pair that waits for its records, the one that signs, and those that sign no longer.
  dkim_keys jsonb NOT NULL,
  -- What DNS last said of each record, by its purpose and name.
  findings jsonb NOT NULL,
  -- Since when a verified domain has been without a record it needs.
  failing_since timestamptz(3),
  verified_at timestamptz(3),
  -- Of the last check that was written down: what was asked earlier does not overwrite it.
  checked_at timestamptz(3),
  next_check_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

const CALLS = `CREATE TABLE sender_domain_calls (
  organization_id uuid NOT NULL,
  minute timestamptz(3) NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (organization_id, minute)
)`;

/** From which domains organizations send, and how often they have asked for a check. */
export class CreateSenderDomains1767150000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      DOMAINS,
      'CREATE UNIQUE INDEX sender_domains_domain ON sender_domains (organization_id, domain) WHERE deleted_at IS NULL',
      'CREATE INDEX sender_domains_by_time ON sender_domains (organization_id, created_at, id)',
      'CREATE INDEX sender_domains_due ON sender_domains (next_check_at) WHERE deleted_at IS NULL',
      ...rowSecurity('sender_domains', { worker: true }),
      CALLS,
      ...rowSecurity('sender_domain_calls'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sender_domain_calls, sender_domains');
  }
}
