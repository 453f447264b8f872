import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const ENDPOINTS = `CREATE TABLE webhook_endpoints (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  enabled boolean NOT NULL,
  signing text NOT NULL CHECK (signing IN ('v1')),
  -- Sealed, newest first; those that were replaced say until when they sign as well.
  secrets jsonb NOT NULL,
  disabled_reason text CHECK (disabled_reason IN ('manual', 'gone', 'failing')),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

const DELIVERIES = `CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,
  -- The body, the same on every try; dropped at the end.
  payload text,
  correlation_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- When it is looked at next: null at its end, and while its endpoint is disabled.
  due_at timestamptz(3),
  -- Of the process that is trying it; due again when that has had its time.
  claim uuid,
  status_code integer,
  error text,
  created_at timestamptz(3) NOT NULL,
  attempted_at timestamptz(3),
  -- One delivery per endpoint and event, however often the event comes.
  PRIMARY KEY (organization_id, endpoint_id, event_id),
  CONSTRAINT webhook_deliveries_endpoint FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoints
) WITH (fillfactor = 80)`;

const STREAKS = `CREATE TABLE webhook_failing_since (
  organization_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  since timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, endpoint_id),
  CONSTRAINT webhook_failing_since_endpoint FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoints
)`;

/** Whom events are told by HTTP, and what has become of each telling. */
export class CreateWebhookEndpoints1764650000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ENDPOINTS,
      'CREATE UNIQUE INDEX webhook_endpoints_name ON webhook_endpoints (organization_id, name) WHERE deleted_at IS NULL',
      'CREATE INDEX webhook_endpoints_by_time ON webhook_endpoints (organization_id, created_at, id)',
      ...rowSecurity('webhook_endpoints', { worker: true }),
      DELIVERIES,
      'CREATE INDEX webhook_deliveries_due ON webhook_deliveries (organization_id, endpoint_id, due_at) WHERE due_at IS NOT NULL',
      'CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (organization_id, endpoint_id, created_at, event_id)',
      'CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at)',
      ...rowSecurity('webhook_deliveries', { worker: true }),
      STREAKS,
      ...rowSecurity('webhook_failing_since', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_failing_since, webhook_deliveries, webhook_endpoints');
  }
}
