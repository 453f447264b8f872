import { appendOnly, rowSecurity, workersSee } from './row-security.js';

const OUTBOX = `CREATE TABLE outbox (
  organization_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  shard smallint NOT NULL,
  topic text NOT NULL,
  messages json NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
)`;

const INBOX = `CREATE TABLE inbox (
  organization_id uuid NOT NULL,
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  claimed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, consumer, event_id)
)`;

const PARKED_EVENTS = `CREATE TABLE parked_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  consumer text NOT NULL,
  topic text NOT NULL,
  key text NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  correlation_id uuid,
  payload text NOT NULL,
  error text NOT NULL,
  attempts integer NOT NULL,
  parked_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT parked_events_once UNIQUE (organization_id, consumer, event_id)
)`;

const AUDIT_ENTRIES = `CREATE TABLE audit_entries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  impersonator_id text,
  action text NOT NULL,
  resource_type text NOT NULL,
  resource_id text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('success', 'denied')),
  changed_fields text[] NOT NULL DEFAULT '{}',
  reason text,
  correlation_id uuid NOT NULL,
  ip text,
  user_agent text,
  PRIMARY KEY (organization_id, id)
)`;

const IDEMPOTENCY_KEYS = `CREATE TABLE idempotency_keys (
  organization_id uuid NOT NULL,
  route text NOT NULL,
  key_hash bytea NOT NULL,
  fingerprint text NOT NULL,
  claim_id uuid,
  lease_until timestamptz(3),
  status smallint,
  headers jsonb NOT NULL DEFAULT '{}',
  body text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  PRIMARY KEY (organization_id, route, key_hash)
)`;

/**
 * The statements for the tables that every module's database has: the outbox and inbox of the event bus, its
 * parked events, the module's audit rows and the answers kept for `Idempotency-Key`.
 */
export function platformTables(): string[] {
  return [
    OUTBOX,
    'CREATE INDEX outbox_by_shard ON outbox (shard, id)',
    ...rowSecurity('outbox', { worker: true }),
    INBOX,
    'CREATE INDEX inbox_by_age ON inbox USING brin (claimed_at)',
    ...rowSecurity('inbox', { worker: true }),
    PARKED_EVENTS,
    ...rowSecurity('parked_events', { worker: true }),
    AUDIT_ENTRIES,
    'CREATE INDEX audit_entries_by_time ON audit_entries (organization_id, occurred_at, id)',
    ...rowSecurity('audit_entries'),
    ...appendOnly('audit_entries'),
    IDEMPOTENCY_KEYS,
    'CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at) WHERE expires_at IS NOT NULL',
    ...rowSecurity('idempotency_keys', { worker: true }),
  ];
}

/** With what proof a parked message came, so that it can be believed later: once its writer's key is known. */
export function parkedProofs(): string[] {
  return ['ALTER TABLE parked_events ADD COLUMN proof text'];
}

/** Undoes {@link parkedProofs}. */
export function dropParkedProofs(): string[] {
  return ['ALTER TABLE parked_events DROP COLUMN proof'];
}

/**
 * Stores the outbox's messages as they are, for rows written from now on: they live for a moment, and packing them costs
 * more than it saves. A relay can then bound what it takes by what rows take up.
 */
export function unpackedOutbox(): string[] {
  return ['ALTER TABLE outbox ALTER COLUMN messages SET STORAGE EXTERNAL'];
}

/** Undoes {@link unpackedOutbox}. */
export function packedOutbox(): string[] {
  return ['ALTER TABLE outbox ALTER COLUMN messages SET STORAGE EXTENDED'];
}

const CONSUMER_POSITIONS = `CREATE TABLE consumer_positions (
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  next_offset bigint NOT NULL,
  latest_timestamp bigint,
  PRIMARY KEY (consumer, topic, partition)
) WITH (fillfactor = 50)`;

/**
 * The statements for the table of how far each consumer of the event bus has come, which lies beside the effects so that
 * it is restored with them. No tenant's data: workers only see it.
 */
export function consumerPositionsTable(): string[] {
  return [CONSUMER_POSITIONS, ...forWorkersAlone('consumer_positions')];
}

const INSTALLATION = `CREATE TABLE installation (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  postgres text,
  kafka boolean NOT NULL DEFAULT false
)`;

/**
 * The statements for the one row that says which installation a database is of, and where it was used. No tenant's data:
 * workers only see it.
 */
export function installationTable(): string[] {
  // Before the policies, which bind the owner too.
  return [INSTALLATION, 'INSERT INTO installation DEFAULT VALUES', ...forWorkersAlone('installation')];
}

function forWorkersAlone(table: string): string[] {
  return [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
    `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
    workersSee(table),
  ];
}

/** Undoes {@link platformTables}. */
export function dropPlatformTables(): string[] {
  return [
    'DROP TABLE outbox, inbox, parked_events, audit_entries, idempotency_keys',
    'DROP FUNCTION refuse_change_of_append_only()',
  ];
}
