import { execute, rowSecurity, steadyStatistics, usualStatistics } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `indexes` says by which numbers the values of fields stand in the tables below; a number is never given again. */
const DEFINITIONS = `CREATE TABLE object_definitions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  slug text NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  fields jsonb NOT NULL,
  indexes jsonb NOT NULL,
  next_number integer NOT NULL,
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/** `values` holds no nulls, so that a key that is there is a value. */
const RECORDS = `CREATE TABLE object_records (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  definition_id uuid NOT NULL,
  "values" jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/** A row of each record for each of its indexed fields; one without a value has what sorts behind all values. */
const indexOf = (table: string, type: string): string => `CREATE TABLE ${table} (
  organization_id uuid NOT NULL,
  definition_id uuid NOT NULL,
  number integer NOT NULL,
  value ${type} NOT NULL,
  record_id uuid NOT NULL,
  live boolean NOT NULL,
  PRIMARY KEY (organization_id, definition_id, number, value, record_id) INCLUDE (live)
)`;

const INDEXES: Readonly<Record<string, string>> = {
  object_texts: 'text COLLATE "C"',
  object_numbers: 'double precision',
  object_times: 'timestamptz(3)',
  object_ids: 'uuid',
};

/** The values of unique fields that active records have. */
const CLAIMS = `CREATE TABLE object_claims (
  organization_id uuid NOT NULL,
  definition_id uuid NOT NULL,
  number integer NOT NULL,
  value text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  PRIMARY KEY (organization_id, definition_id, number, value)
)`;

/** `origin_contact_id` is the contact that was referred to first: merges move the reference, their undo takes it back. */
const REFERENCES = `CREATE TABLE object_references (
  organization_id uuid NOT NULL,
  record_id uuid NOT NULL,
  field text NOT NULL,
  definition_id uuid NOT NULL,
  contact_id uuid,
  origin_contact_id uuid,
  target_id uuid,
  PRIMARY KEY (organization_id, record_id, field),
  CONSTRAINT object_references_one CHECK (num_nonnulls(contact_id, target_id) = 1
    AND (contact_id IS NULL) = (origin_contact_id IS NULL)),
  CONSTRAINT object_references_target FOREIGN KEY (organization_id, target_id)
    REFERENCES object_records (organization_id, id)
)`;

/**
 * How many records a definition has, and how many of them a value by field. In several rows that are added up, so that
 * who writes records of one definition at the same time rarely waits for one row.
 */
const TALLIES = `CREATE TABLE object_tallies (
  organization_id uuid NOT NULL,
  definition_id uuid NOT NULL,
  shard smallint NOT NULL,
  records bigint NOT NULL,
  active bigint NOT NULL,
  held jsonb NOT NULL,
  active_held jsonb NOT NULL,
  PRIMARY KEY (organization_id, definition_id, shard)
) WITH (fillfactor = 50)`;

const JOBS = `CREATE TABLE object_index_jobs (
  organization_id uuid NOT NULL,
  definition_id uuid NOT NULL,
  number integer NOT NULL,
  work text NOT NULL CHECK (work IN ('build', 'drop')),
  cursor_id uuid,
  processed bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0,
  moved_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, definition_id, number)
)`;

const SOUGHT = [...Object.keys(INDEXES), 'object_claims', 'object_tallies'];
const LISTED = ['object_records', 'object_references'];
const ALL = [...LISTED, ...SOUGHT, 'object_index_jobs', 'object_definitions'];

/** Custom objects (crm.md §3): definitions, records, and what is kept beside records to find them by. */
export class CreateObjects1767200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      DEFINITIONS,
      'CREATE UNIQUE INDEX object_definitions_slug ON object_definitions (organization_id, slug) WHERE deleted_at IS NULL',
      'CREATE INDEX object_definitions_by_creation ON object_definitions (organization_id, created_at, id)',
      'CREATE INDEX object_definitions_by_change ON object_definitions (organization_id, updated_at, id)',
      'CREATE INDEX object_definitions_by_name ON object_definitions (organization_id, name, id)',
      RECORDS,
      'CREATE INDEX object_records_by_creation ON object_records (organization_id, definition_id, created_at, id)',
      'CREATE INDEX object_records_by_change ON object_records (organization_id, definition_id, updated_at, id)',
      ...Object.entries(INDEXES).map(([table, type]) => indexOf(table, type)),
      CLAIMS,
      REFERENCES,
      `CREATE INDEX object_references_by_contact ON object_references (organization_id, contact_id, record_id)
        WHERE contact_id IS NOT NULL`,
      `CREATE INDEX object_references_by_target ON object_references (organization_id, target_id, record_id)
        WHERE target_id IS NOT NULL`,
      TALLIES,
      JOBS,
      'CREATE INDEX object_index_jobs_by_turn ON object_index_jobs (moved_at)',
      ...ALL.flatMap((table) => rowSecurity(table, { worker: table === 'object_index_jobs' })),
      ...SOUGHT.flatMap((table) => steadyStatistics(table, 'one')),
      ...LISTED.flatMap((table) => steadyStatistics(table, 'many')),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      [...SOUGHT, ...LISTED].flatMap((table) => usualStatistics(table)),
    );
    await execute(
      runner,
      ['object_references', ...ALL.filter((table) => table !== 'object_references')].map(
        (table) => `DROP TABLE ${table}`,
      ),
    );
  }
}
