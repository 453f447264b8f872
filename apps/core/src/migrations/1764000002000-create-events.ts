import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An event's id follows from (organization, idempotency_key); the key itself is unique for ever all the same.
 * Its correlation id is its id, so the index of the primary key serves both. `fingerprint` is half of the SHA-256
 * of the canonical body, by which a retry is told from another event under the same key.
 *
 * Contacts are not a foreign key: its check costs each inserted row a look-up, while the worker has locked the
 * contacts of a whole chunk already (contact_activity).
 */
const EVENTS = `CREATE TABLE events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('track', 'identify')),
  event text,
  external_id text NOT NULL,
  contact_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  received_at timestamptz(3) NOT NULL,
  payload jsonb NOT NULL,
  identities jsonb,
  warnings jsonb,
  source text NOT NULL,
  fingerprint uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT events_idempotency_key UNIQUE (organization_id, idempotency_key)
)`;

/** The events, in the orders in which they are read: by contact, by time, by name, by external id, by arrival. */
export class CreateEvents1764000002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      EVENTS,
      'CREATE INDEX events_by_contact ON events (organization_id, contact_id, occurred_at, id)',
      'CREATE INDEX events_by_time ON events (organization_id, occurred_at, id)',
      'CREATE INDEX events_by_name ON events (organization_id, event, occurred_at, id)',
      'CREATE INDEX events_by_external_id ON events (organization_id, external_id, occurred_at, id)',
      'CREATE INDEX events_by_arrival ON events (organization_id, received_at, id)',
      ...rowSecurity('events'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE events']);
  }
}
