import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What became of the events taken off one partition of the queue, by UTC day of acceptance: `consumed` of them, of
 * which so many were stored, duplicates, dead-lettered; the rest is still pending. One row per partition, since each
 * partition has one writer at a time; partition -1 is for what happens later (replays) or elsewhere.
 */
const USAGE_DAYS = `CREATE TABLE usage_days (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  partition integer NOT NULL,
  consumed bigint NOT NULL DEFAULT 0,
  stored bigint NOT NULL DEFAULT 0,
  duplicates bigint NOT NULL DEFAULT 0,
  dead_lettered bigint NOT NULL DEFAULT 0,
  erased bigint NOT NULL DEFAULT 0,
  contacts_created bigint NOT NULL DEFAULT 0,
  contacts_deleted bigint NOT NULL DEFAULT 0,
  contacts_merged bigint NOT NULL DEFAULT 0,
  contacts_erased bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, day, partition)
) WITH (fillfactor = 50)`;

/** How many events of a partition were seen in the queue: the count of acceptances, ahead of the worker. */
const USAGE_ACCEPTANCES = `CREATE TABLE usage_acceptances (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  partition integer NOT NULL,
  counted bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, day, partition)
) WITH (fillfactor = 50)`;

const USAGE_REFUSALS = `CREATE TABLE usage_refusals (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  refused bigint NOT NULL,
  PRIMARY KEY (organization_id, day)
) WITH (fillfactor = 50)`;

/**
 * How far each reader of the queue has come, written in the transaction of the effect: what makes the effect of a
 * record exactly one. No tenant's data.
 */
const QUEUE_POSITIONS = `CREATE TABLE queue_positions (
  reader text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  next_offset bigint NOT NULL,
  latest_timestamp bigint NOT NULL,
  PRIMARY KEY (reader, topic, partition)
) WITH (fillfactor = 50)`;

/** Records of the queue that are none: kept for the operator, since nobody knows whose they are. */
const UNREADABLE_RECORDS = `CREATE TABLE unreadable_records (
  topic text NOT NULL,
  partition integer NOT NULL,
  record_offset bigint NOT NULL,
  written_at timestamptz(3) NOT NULL,
  value bytea NOT NULL,
  error text NOT NULL,
  PRIMARY KEY (topic, partition, record_offset, written_at)
)`;

/** The statements that show a table to workers only: its rows belong to no organization. */
function workersOnly(table: string): string[] {
  const worker = `current_setting('app.worker', true) = 'on'`;
  return [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
    `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
    `CREATE POLICY worker ON ${table} USING (${worker}) WITH CHECK (${worker})`,
  ];
}

/** The counters of the law of conservation, and the positions in the queue that keep them exact. */
export class CreateUsage1764000004000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      USAGE_DAYS,
      ...rowSecurity('usage_days'),
      USAGE_ACCEPTANCES,
      ...rowSecurity('usage_acceptances', { worker: true }),
      USAGE_REFUSALS,
      ...rowSecurity('usage_refusals'),
      QUEUE_POSITIONS,
      ...workersOnly('queue_positions'),
      UNREADABLE_RECORDS,
      ...workersOnly('unreadable_records'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TABLE unreadable_records, queue_positions, usage_refusals, usage_acceptances, usage_days',
    ]);
  }
}
