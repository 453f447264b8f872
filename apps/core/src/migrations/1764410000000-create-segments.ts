import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `member_count` and `evaluated_at` move with every evaluation: pages keep room, so that a row moves within its page
 * and no index with it.
 */
const SEGMENTS = `CREATE TABLE segments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  rule jsonb NOT NULL,
  rule_version integer NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'ready')),
  member_count integer NOT NULL DEFAULT 0,
  evaluated_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50)`;

/** Raised by every change of an organization's segments: whoever keeps them in memory sees that they are old. */
const REVISIONS = `CREATE TABLE segment_revisions (
  organization_id uuid PRIMARY KEY,
  revision bigint NOT NULL
)`;

/**
 * The revision, read under a lock that the transaction holds to its end and that a change of segments takes
 * exclusively: what is written by one revision is committed before the next one comes to be. Volatile, and in two
 * statements, so that the read sees what was committed while the lock was waited for.
 */
const REVISION = `CREATE FUNCTION segment_revision(organization uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
  DECLARE found bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('segments:' || organization, 0));
    SELECT revision INTO found FROM segment_revisions WHERE organization_id = organization;
    RETURN found;
  END $$`;

/**
 * What rules ask of events, once for all rules that ask the same of the same event. While it is built, the events up
 * to the cursor have been looked through; a dropped one is used by no rule, and is being cleared away.
 */
const CONDITIONS = `CREATE TABLE segment_conditions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  event text NOT NULL,
  fingerprint text NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'ready', 'dropped')),
  cursor_at timestamptz(3),
  cursor_id uuid,
  PRIMARY KEY (organization_id, id)
)`;

const USES = `CREATE TABLE segment_condition_uses (
  organization_id uuid NOT NULL,
  segment_id uuid NOT NULL,
  condition_id uuid NOT NULL,
  PRIMARY KEY (organization_id, segment_id, condition_id),
  CONSTRAINT segment_condition_uses_segment FOREIGN KEY (organization_id, segment_id)
    REFERENCES segments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT segment_condition_uses_condition FOREIGN KEY (organization_id, condition_id)
    REFERENCES segment_conditions (organization_id, id)
)`;

/** The events that match a condition, by contact and time: what counts are counted from. */
const MATCHES = `CREATE TABLE segment_matches (
  organization_id uuid NOT NULL,
  condition_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  event_id uuid NOT NULL,
  PRIMARY KEY (organization_id, condition_id, contact_id, occurred_at, event_id)
)`;

/** Every stay of a contact in a segment; the one without an end is the present one. */
const MEMBERS = `CREATE TABLE segment_members (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  segment_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  entered_at timestamptz(3) NOT NULL,
  cause text NOT NULL,
  left_at timestamptz(3),
  left_cause text,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT segment_members_segment FOREIGN KEY (organization_id, segment_id)
    REFERENCES segments (organization_id, id) ON DELETE CASCADE
)`;

/** What changed of contacts and is still to be evaluated: a work queue. \`touched\` names what rules may ask for. */
const CHANGES = `CREATE TABLE segment_changes (
  organization_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  contact_id uuid NOT NULL,
  cause text NOT NULL,
  touched text[] NOT NULL,
  correlation_id uuid NOT NULL,
  event_id uuid,
  attempts integer NOT NULL DEFAULT 0,
  not_before timestamptz(3) NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (organization_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`;

/**
 * When time alone may move a contact: the earliest instant, and that of each segment. One row for a contact, however
 * many windows are open on it.
 */
const DUES = `CREATE TABLE segment_dues (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  due_at timestamptz(3) NOT NULL,
  segment_ids uuid[] NOT NULL,
  due_ats timestamptz(3)[] NOT NULL,
  PRIMARY KEY (organization_id, contact_id)
)`;

/** Segments whose rule is new: first their conditions are looked up in the past, then all contacts are gone through. */
const BUILDS = `CREATE TABLE segment_builds (
  organization_id uuid NOT NULL,
  segment_id uuid NOT NULL,
  cause text NOT NULL,
  correlation_id uuid NOT NULL,
  phase text NOT NULL CHECK (phase IN ('conditions', 'contacts')),
  cursor_id uuid,
  PRIMARY KEY (organization_id, segment_id),
  CONSTRAINT segment_builds_segment FOREIGN KEY (organization_id, segment_id)
    REFERENCES segments (organization_id, id) ON DELETE CASCADE
)`;

/** Segments, what is kept to evaluate them by the change, and who is and was in them. */
export class CreateSegments1764410000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SEGMENTS,
      'CREATE UNIQUE INDEX segments_name ON segments (organization_id, lower(name)) WHERE deleted_at IS NULL',
      'CREATE INDEX segments_by_creation ON segments (organization_id, created_at, id)',
      ...rowSecurity('segments'),
      REVISIONS,
      ...rowSecurity('segment_revisions'),
      REVISION,
      CONDITIONS,
      `CREATE UNIQUE INDEX segment_conditions_once ON segment_conditions (organization_id, fingerprint)
         WHERE state <> 'dropped'`,
      `CREATE INDEX segment_conditions_dropped ON segment_conditions (organization_id) WHERE state = 'dropped'`,
      ...rowSecurity('segment_conditions', { worker: true }),
      USES,
      'CREATE INDEX segment_condition_uses_by_condition ON segment_condition_uses (organization_id, condition_id)',
      ...rowSecurity('segment_condition_uses'),
      MATCHES,
      ...rowSecurity('segment_matches'),
      MEMBERS,
      `CREATE UNIQUE INDEX segment_members_once ON segment_members (organization_id, contact_id, segment_id)
         WHERE left_at IS NULL`,
      `CREATE INDEX segment_members_gone ON segment_members (organization_id, contact_id) WHERE left_at IS NOT NULL`,
      `CREATE INDEX segment_members_now ON segment_members (organization_id, segment_id, entered_at, id)
         WHERE left_at IS NULL`,
      `CREATE INDEX segment_members_then ON segment_members (organization_id, segment_id, entered_at, id)
         WHERE left_at IS NOT NULL`,
      ...rowSecurity('segment_members'),
      CHANGES,
      ...rowSecurity('segment_changes', { worker: true }),
      DUES,
      'CREATE INDEX segment_dues_by_time ON segment_dues (due_at)',
      ...rowSecurity('segment_dues', { worker: true }),
      BUILDS,
      ...rowSecurity('segment_builds', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `DROP TABLE segment_builds, segment_dues, segment_changes, segment_members, segment_matches,
         segment_condition_uses, segment_conditions, segments`,
      'DROP FUNCTION segment_revision',
      'DROP TABLE segment_revisions',
    ]);
  }
}
