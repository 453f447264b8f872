import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `file_key` is the sealed key of the file and goes when the import ends: what is left of a file cannot be read then.
 * `position` is the byte at which the next piece begins, `line` the line there; both move with the rows they stand for.
 * `moved_at` is when a piece was done last: imports take turns by it.
 */
const IMPORTS = `CREATE TABLE imports (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed')),
  options jsonb NOT NULL,
  columns jsonb NOT NULL,
  file_bytes bigint NOT NULL,
  file_rows integer NOT NULL,
  file_sha256 text NOT NULL,
  file_key text,
  position bigint NOT NULL,
  line integer NOT NULL,
  created_rows integer NOT NULL DEFAULT 0,
  updated_rows integer NOT NULL DEFAULT 0,
  unchanged_rows integer NOT NULL DEFAULT 0,
  skipped_rows integer NOT NULL DEFAULT 0,
  failed_rows integer NOT NULL DEFAULT 0,
  errors integer NOT NULL DEFAULT 0,
  failure_code text,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  impersonator_id text,
  correlation_id uuid NOT NULL,
  moved_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** `subjects` are keyed hashes of the identifiers that the row names: by them an erasure finds what it takes away. */
const ERRORS = `CREATE TABLE import_errors (
  organization_id uuid NOT NULL,
  import_id uuid NOT NULL,
  place integer NOT NULL,
  line integer NOT NULL,
  column_name text,
  code text NOT NULL,
  value text,
  subjects bytea[] NOT NULL,
  PRIMARY KEY (organization_id, import_id, place)
)`;

/** Imports of contacts, and what was wrong with their rows. */
export class CreateImports1767133000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      IMPORTS,
      'CREATE INDEX imports_by_creation ON imports (organization_id, created_at, id)',
      `CREATE INDEX imports_open ON imports (organization_id, created_at, id) WHERE state IN ('queued', 'running')`,
      ...rowSecurity('imports', { worker: true }),
      ERRORS,
      ...rowSecurity('import_errors'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE import_errors, imports']);
  }
}
