import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const SUPPRESSIONS = `CREATE TABLE suppressions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  channel text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('address', 'domain')),
  key text NOT NULL,
  address text,
  reason text NOT NULL,
  note text,
  created_by jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  -- The gate looks up by channel and key alone: keys of domains and of addresses never coincide.
  CONSTRAINT suppressions_once UNIQUE (organization_id, channel, key)
)`;

const PREFERENCES = `CREATE TABLE preferences (
  organization_id uuid NOT NULL,
  -- An address key, or 'contact:<id>'.
  subject text NOT NULL,
  channel text NOT NULL,
  -- '' stands for all marketing.
  topic text NOT NULL,
  subscribed boolean NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, subject, channel, topic)
)`;

const IN_FLIGHT = `CREATE TABLE in_flight (
  organization_id uuid NOT NULL,
  send_id uuid NOT NULL,
  attempt integer NOT NULL,
  keys text[] NOT NULL,
  lease_until timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, send_id)
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)`;

/** What the gate looks at, and what a writer of a suppression waits for. */
export class CreateGate1763715606000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SUPPRESSIONS,
      'CREATE INDEX suppressions_by_time ON suppressions (organization_id, created_at, id)',
      ...rowSecurity('suppressions', { worker: true }),
      PREFERENCES,
      ...rowSecurity('preferences', { worker: true }),
      IN_FLIGHT,
      ...rowSecurity('in_flight', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE in_flight, preferences, suppressions');
  }
}
