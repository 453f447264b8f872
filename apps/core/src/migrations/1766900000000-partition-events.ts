import { execute, rowSecurity, steadyStatistics } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Statements that name many organizations open every partition: sixteen cost them little (ADR 53), and vacuum, ANALYZE
 * and a new index go through a sixteenth at a time.
 */
const PARTITIONS = Array.from({ length: 16 }, (_, remainder) => ({
  remainder,
  suffix: `p${String(remainder).padStart(2, '0')}`,
}));

const COLUMNS = `organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
  payload, identities, warnings, source, fingerprint, created_at, origin_id`;

const DEFINITIONS = `
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
  origin_id uuid`;

/** In the orders in which events are read; the id, which is made of the idempotency key, finds one by either. */
const INDEXES: readonly { name: string; on: string }[] = [
  { name: 'events_by_contact', on: '(organization_id, contact_id, occurred_at, id)' },
  { name: 'events_by_time', on: '(organization_id, occurred_at, id)' },
  { name: 'events_by_name', on: '(organization_id, event, occurred_at, id)' },
  { name: 'events_by_external_id', on: '(organization_id, external_id, occurred_at, id)' },
  { name: 'events_by_arrival', on: '(organization_id, received_at, id)' },
  { name: 'events_identifies', on: `(organization_id, occurred_at, id) WHERE type = 'identify'` },
];

const DROP_INDEXES = `DROP INDEX ${INDEXES.map(({ name }) => name).join(', ')}`;

/**
 * The policies of a table do not hold where one of its partitions is named: nobody may name one. Forced and without a
 * policy they show nothing to the owner, and the service's role has no right to them.
 */
const CLOSE = PARTITIONS.map(
  ({ suffix }) => `
  ALTER TABLE events_${suffix} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  DO $$ BEGIN
    EXECUTE format('REVOKE ALL ON events_${suffix} FROM %I', regexp_replace(current_user, '_owner$', '_app'));
  END $$`,
);

/** Each partition's index is made first, for a name that says what it is; that of the whole then takes them on. */
const INDEX = [
  ...PARTITIONS.map(({ suffix }) =>
    [
      `ALTER TABLE events_${suffix} ADD CONSTRAINT events_pkey_${suffix} PRIMARY KEY (organization_id, id)`,
      ...INDEXES.map(({ name, on }) => `CREATE INDEX ${name}_${suffix} ON events_${suffix} ${on}`),
    ].join(';\n'),
  ),
  'ALTER TABLE events ADD CONSTRAINT events_pkey PRIMARY KEY (organization_id, id)',
  ...INDEXES.map(({ name, on }) => `CREATE INDEX ${name} ON events ${on}`),
];

/** All rows, whose organizations the owner could not see otherwise: an error rather than some of them. */
const COPY = [
  'ALTER TABLE former_events NO FORCE ROW LEVEL SECURITY',
  'SET LOCAL row_security = off',
  `INSERT INTO events (${COLUMNS}) SELECT ${COLUMNS} FROM former_events`,
  'SET LOCAL row_security = on',
  'DROP TABLE former_events',
];

/** The planner is to know the rows now, not when autovacuum comes by, and of an empty table nothing. */
const ANALYZE = `DO $$ BEGIN IF EXISTS (SELECT FROM events) THEN ANALYZE events; END IF; END $$`;

/**
 * Events in partitions by organization, and without the index on the idempotency key: the id is made of organization and
 * key, so that the primary key keeps the key unique. The rows are copied in one transaction that holds the table, which
 * is for a table that is small still: docs/operations/deploy.md says for how long. Both releases work with either form.
 */
export class PartitionEvents1766900000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'LOCK TABLE events IN ACCESS EXCLUSIVE MODE',
      DROP_INDEXES,
      'ALTER TABLE events DROP CONSTRAINT events_pkey, DROP CONSTRAINT events_idempotency_key',
      'ALTER TABLE events RENAME TO former_events',
      `CREATE TABLE events (${DEFINITIONS}) PARTITION BY HASH (organization_id)`,
      ...PARTITIONS.map(
        ({ remainder, suffix }) => `
        CREATE TABLE events_${suffix} PARTITION OF events FOR VALUES WITH (MODULUS ${PARTITIONS.length}, REMAINDER ${remainder})`,
      ),
      ...COPY,
      ...INDEX,
      ...PARTITIONS.flatMap(({ suffix }) => steadyStatistics(`events_${suffix}`, 'many')),
      ANALYZE,
      ...CLOSE,
      ...rowSecurity('events', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'LOCK TABLE events IN ACCESS EXCLUSIVE MODE',
      DROP_INDEXES,
      'ALTER TABLE events DROP CONSTRAINT events_pkey',
      'ALTER TABLE events RENAME TO former_events',
      `CREATE TABLE events (${DEFINITIONS})`,
      ...COPY,
      'ALTER TABLE events ADD CONSTRAINT events_pkey PRIMARY KEY (organization_id, id)',
      'ALTER TABLE events ADD CONSTRAINT events_idempotency_key UNIQUE (organization_id, idempotency_key)',
      ...INDEXES.map(({ name, on }) => `CREATE INDEX ${name} ON events ${on}`),
      ...steadyStatistics('events', 'many'),
      ANALYZE,
      ...rowSecurity('events', { worker: true }),
    ]);
  }
}
