import { appendOnly, execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATES = `'accepted', 'rendering', 'gated', 'dispatching', 'held', 'sent', 'unknown', 'delivered', 'opened',
  'clicked', 'bounced', 'complained', 'suppressed', 'opted_out', 'capped', 'failed', 'canceled'`;

const SENDS = `CREATE TABLE sends (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  channel text NOT NULL,
  state text NOT NULL CHECK (state IN (${STATES})),
  reason text,
  category text NOT NULL CHECK (category IN ('transactional', 'marketing')),
  topic text,
  contact_id uuid,
  -- How to find the address: {"contact_id"}, {"external_id"} or {"address"}.
  recipient jsonb NOT NULL,
  address text,
  address_key text,
  sender text,
  template_id uuid,
  template_version integer,
  locale text,
  subject text,
  source text NOT NULL CHECK (source IN ('api', 'routing', 'campaign')),
  source_id uuid,
  run_id uuid,
  event_id uuid,
  provider text,
  provider_message_id text,
  attempts integer NOT NULL DEFAULT 0,
  cap_counted boolean NOT NULL DEFAULT false,
  metadata jsonb,
  release_at timestamptz(3),
  expires_at timestamptz(3),
  sent_at timestamptz(3),
  correlation_id uuid,
  -- 0 transactional, 1 marketing: a person waiting for a password never stands behind a newsletter.
  lane smallint NOT NULL,
  -- When a dispatcher must look at it next; null when it is final. In dispatch: when its outcome is given up.
  due_at timestamptz(3),
  -- Of the dispatcher that works on it; one that lost its claim changes nothing any more.
  claim uuid,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)`;

const INDEXES = [
  'CREATE INDEX sends_due ON sends (organization_id, channel, lane, due_at) WHERE due_at IS NOT NULL',
  'CREATE UNIQUE INDEX sends_once_per_event ON sends (organization_id, source_id, event_id) WHERE event_id IS NOT NULL',
  'CREATE INDEX sends_by_contact ON sends (organization_id, contact_id, created_at, id)',
  'CREATE INDEX sends_by_time ON sends (organization_id, created_at, id)',
  'CREATE INDEX sends_by_address ON sends (organization_id, address_key, created_at) WHERE address_key IS NOT NULL',
  'CREATE INDEX sends_by_correlation ON sends (organization_id, correlation_id, created_at)',
  'CREATE INDEX sends_by_provider_id ON sends (organization_id, provider_message_id) WHERE provider_message_id IS NOT NULL',
  'CREATE INDEX sends_unfinished_by_template ON sends (organization_id, template_id) WHERE due_at IS NOT NULL',
];

const PAYLOADS = `CREATE TABLE send_payloads (
  organization_id uuid NOT NULL,
  send_id uuid NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  event jsonb,
  content jsonb,
  PRIMARY KEY (organization_id, send_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05)`;

const HISTORY = `CREATE TABLE send_history (
  organization_id uuid NOT NULL,
  send_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  state text NOT NULL CHECK (state IN (${STATES})),
  reason text,
  attempt integer NOT NULL,
  provider_event_id text,
  smtp_code integer,
  occurred_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, send_id, id)
)`;

/** Sends, what they are made of until they are final, and every step they took. */
export class CreateSends1763715605000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SENDS,
      ...INDEXES,
      ...rowSecurity('sends', { worker: true }),
      PAYLOADS,
      ...rowSecurity('send_payloads', { worker: true }),
      HISTORY,
      ...rowSecurity('send_history', { worker: true }),
      ...appendOnly('send_history'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE send_history, send_payloads, sends');
  }
}
