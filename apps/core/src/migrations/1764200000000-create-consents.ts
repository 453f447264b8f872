import { appendOnly, execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What people have agreed to, as it was said: rows are added and never changed. Without a channel it is about all.
 * The foreign key keeps a contact with consents from being purged.
 */
const CONSENT_EVENTS = `CREATE TABLE consent_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  purpose text NOT NULL,
  channel text,
  status text NOT NULL CHECK (status IN ('granted', 'denied', 'withdrawn')),
  notice_version text,
  notice_hash text,
  method text,
  legal_basis text NOT NULL,
  jurisdiction text,
  evidence jsonb,
  pii_categories text[] NOT NULL DEFAULT '{}',
  recipients text[] NOT NULL DEFAULT '{}',
  storage_locations text[] NOT NULL DEFAULT '{}',
  retention text,
  withdrawal_method text,
  expires_at timestamptz(3),
  occurred_at timestamptz(3) NOT NULL,
  controller uuid NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  impersonator_id text,
  correlation_id uuid NOT NULL,
  recorded_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT consent_events_grant_complete CHECK (status <> 'granted'
    OR (notice_version IS NOT NULL AND method IS NOT NULL)),
  CONSTRAINT consent_events_contact FOREIGN KEY (organization_id, contact_id)
    REFERENCES contacts (organization_id, id)
)`;

/** Grants that will end by themselves: a work queue, emptied as their time comes. */
const CONSENT_EXPIRATIONS = `CREATE TABLE consent_expirations (
  organization_id uuid NOT NULL,
  event_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, event_id)
)`;

/** Consents as events, and the queue of their ends. */
export class CreateConsents1764200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CONSENT_EVENTS,
      'CREATE INDEX consent_events_by_contact ON consent_events (organization_id, contact_id, occurred_at, id)',
      ...rowSecurity('consent_events'),
      ...appendOnly('consent_events'),
      CONSENT_EXPIRATIONS,
      'CREATE INDEX consent_expirations_by_time ON consent_expirations (expires_at)',
      ...rowSecurity('consent_expirations', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE consent_expirations, consent_events']);
  }
}
