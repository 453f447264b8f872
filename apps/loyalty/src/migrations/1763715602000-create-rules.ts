import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONTENT = `
  event text NOT NULL,
  conditions jsonb NOT NULL,
  formula jsonb NOT NULL,
  max_per_event bigint,
  max_per_contact jsonb,
  valid_from timestamptz(3) NOT NULL,
  valid_to timestamptz(3),
  expires_after_days integer,
  enabled boolean NOT NULL`;

const RULES = `CREATE TABLE rules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  ${CONTENT},
  version integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
)`;

/** What a rule said, for ever: `?version=` reads it, and an event received in its time is judged by it. */
const RULE_VERSIONS = `CREATE TABLE rule_versions (
  organization_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  ${CONTENT},
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, rule_id, version),
  CONSTRAINT rule_versions_rule FOREIGN KEY (organization_id, rule_id)
    REFERENCES rules (organization_id, id) ON DELETE CASCADE
)`;

/** From when which version of a rule was in force, or (deleted) none was. */
const RULE_PERIODS = `CREATE TABLE rule_periods (
  organization_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  effective_from timestamptz(3) NOT NULL,
  version integer NOT NULL,
  deleted boolean NOT NULL,
  PRIMARY KEY (organization_id, rule_id, effective_from),
  CONSTRAINT rule_periods_rule FOREIGN KEY (organization_id, rule_id)
    REFERENCES rules (organization_id, id) ON DELETE CASCADE
)`;

/** Raised by every change of an organization's rules: whoever keeps them in memory sees that they are old. */
const RULE_REVISIONS = `CREATE TABLE rule_revisions (
  organization_id uuid PRIMARY KEY,
  revision bigint NOT NULL
)`;

/** Rules with their immutable versions. */
export class CreateRules1763715602000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      RULES,
      `CREATE UNIQUE INDEX rules_name ON rules (organization_id, lower(name)) WHERE deleted_at IS NULL`,
      `CREATE INDEX rules_by_creation ON rules (organization_id, created_at, id)`,
      ...rowSecurity('rules'),
      RULE_VERSIONS,
      ...rowSecurity('rule_versions'),
      RULE_PERIODS,
      ...rowSecurity('rule_periods'),
      RULE_REVISIONS,
      ...rowSecurity('rule_revisions'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rule_revisions, rule_periods, rule_versions, rules');
  }
}
