import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `next` is what values are being converted to: the declaration that follows when all are. Both are bounded, since an
 * organization's definitions stand in the memory of every process.
 */
const DEFINITIONS = `CREATE TABLE attribute_definitions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  key text NOT NULL,
  label text NOT NULL,
  type text NOT NULL CHECK (type IN ('string', 'integer', 'number', 'boolean', 'date', 'datetime', 'string_list')),
  enum jsonb CHECK (octet_length(enum::text) <= 16384),
  max_length integer,
  min double precision,
  max double precision,
  member_visible boolean NOT NULL,
  next jsonb CHECK (octet_length(next::text) <= 20480),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/**
 * Contacts that are being gone through because of a definition that is new or was changed: first none may hold a value
 * that would be lost (`verifying`, left out where such values are to be cleared), then all are converted, then the
 * definition takes effect (`ending`). The row goes with the end, whichever it is.
 */
const CONVERSIONS = `CREATE TABLE attribute_conversions (
  organization_id uuid NOT NULL,
  definition_id uuid NOT NULL,
  initial boolean NOT NULL,
  on_failure text NOT NULL CHECK (on_failure IN ('refuse', 'clear')),
  phase text NOT NULL CHECK (phase IN ('verifying', 'converting', 'ending', 'cancelling')),
  cursor_id uuid,
  total integer NOT NULL,
  processed integer NOT NULL DEFAULT 0,
  converted integer NOT NULL DEFAULT 0,
  cleared integer NOT NULL DEFAULT 0,
  correlation_id uuid NOT NULL,
  started_at timestamptz(3) NOT NULL,
  moved_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, definition_id),
  CONSTRAINT attribute_conversions_definition FOREIGN KEY (organization_id, definition_id)
    REFERENCES attribute_definitions (organization_id, id) ON DELETE CASCADE
)`;

/** What is there fits the one before, which admits less. */
const PHASES = (...phases: string[]): string => `ALTER TABLE segment_builds
  DROP CONSTRAINT segment_builds_phase_check,
  ADD CONSTRAINT segment_builds_phase_check CHECK (phase IN (${phases.map((phase) => `'${phase}'`).join(', ')})) NOT VALID`;

/** Definitions of attributes, and the conversion of values that were there before. */
export class CreateAttributeDefinitions1767131000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      DEFINITIONS,
      `CREATE UNIQUE INDEX attribute_definitions_key ON attribute_definitions (organization_id, key)
         WHERE deleted_at IS NULL`,
      'CREATE INDEX attribute_definitions_by_creation ON attribute_definitions (organization_id, created_at, id)',
      ...rowSecurity('attribute_definitions', { worker: true }),
      CONVERSIONS,
      'CREATE INDEX attribute_conversions_by_turn ON attribute_conversions (moved_at)',
      ...rowSecurity('attribute_conversions', { worker: true }),
      PHASES('waiting', 'conditions', 'contacts'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `UPDATE segment_builds SET phase = 'conditions' WHERE phase = 'waiting'`,
      PHASES('conditions', 'contacts'),
      'DROP TABLE attribute_conversions, attribute_definitions',
    ]);
  }
}
