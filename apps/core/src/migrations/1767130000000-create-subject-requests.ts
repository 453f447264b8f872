import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `warned_days` is the smallest number of days before `due_at` at which was warned of it. */
const REQUESTS = `CREATE TABLE subject_requests (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  state text NOT NULL CHECK (state IN ('verifying', 'in_progress', 'completed', 'rejected')),
  contact_id uuid NOT NULL,
  jurisdiction text NOT NULL,
  received_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) NOT NULL,
  warned_days integer,
  verification_method text,
  verification_reference text,
  verified_at timestamptz(3),
  extended_at timestamptz(3),
  extension_reason text,
  rejection_ground text,
  rejection_detail text,
  note text,
  correlation_id uuid NOT NULL,
  completed_at timestamptz(3),
  residual_until timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/**
 * An erasure that core carries out, in steps: `contact_ids` and `identifiers` are what is still sought of the person,
 * and go when core is through. `fence` is the transaction whose predecessors may have written what a first round of
 * steps did not see.
 */
const ERASURES = `CREATE TABLE contact_erasures (
  organization_id uuid NOT NULL,
  subject_request_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  correlation_id uuid NOT NULL,
  step text NOT NULL,
  round integer NOT NULL DEFAULT 1,
  cursor_id uuid,
  fence text,
  contact_ids uuid[] NOT NULL,
  identifiers jsonb NOT NULL,
  counts jsonb NOT NULL,
  asked_at timestamptz(3) NOT NULL,
  moved_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, subject_request_id)
)`;

/** Keyed hashes of the identifiers of erased people: they tell whether a value is one of them, and nothing else. */
const BLOCKLIST = `CREATE TABLE erased_identifiers (
  organization_id uuid NOT NULL,
  hash bytea NOT NULL,
  subject_request_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, hash)
)`;

const RECEIPTS = `CREATE TABLE subject_request_receipts (
  organization_id uuid NOT NULL,
  subject_request_id uuid NOT NULL,
  module text NOT NULL CHECK (module IN ('core', 'crm', 'loyalty', 'messaging')),
  state text NOT NULL CHECK (state IN ('received', 'verified', 'refused')),
  counts jsonb NOT NULL,
  signature text NOT NULL,
  received_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, subject_request_id, module)
)`;

/**
 * The proof of a consent that says something of the person goes with an erasure, and nothing else of it ever changes:
 * the only UPDATE that is let through takes the evidence away, of a contact that was erased.
 */
const EVIDENCE_GOES = `CREATE FUNCTION refuse_change_of_consent() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      IF NEW.evidence IS NULL AND to_jsonb(OLD) - 'evidence' = to_jsonb(NEW) - 'evidence'
         AND EXISTS (SELECT FROM contacts WHERE organization_id = OLD.organization_id AND id = OLD.contact_id
                        AND erased_at IS NOT NULL) THEN
        RETURN NEW;
      END IF;
    END IF;
    RAISE EXCEPTION 'table % takes INSERT only, not %', TG_TABLE_NAME, TG_OP USING ERRCODE = '42501';
  END $$`;

const GRANT = (verb: 'GRANT' | 'REVOKE'): string => `DO $$ BEGIN
    EXECUTE format('${verb} UPDATE (evidence) ON consent_events ${verb === 'GRANT' ? 'TO' : 'FROM'} %I',
                   regexp_replace(current_user, '_owner$', '_app'));
  END $$`;

const ROWS_OF_CONSENTS = (refusal: string): string[] => [
  'DROP TRIGGER append_only_rows ON consent_events',
  `CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON consent_events
     FOR EACH ROW EXECUTE FUNCTION ${refusal}()`,
  'ALTER TABLE consent_events ENABLE ALWAYS TRIGGER append_only_rows',
];

/** Requests of data subjects, and the erasure of a person. */
export class CreateSubjectRequests1767130000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      REQUESTS,
      'CREATE INDEX subject_requests_by_creation ON subject_requests (organization_id, created_at, id)',
      'CREATE INDEX subject_requests_by_contact ON subject_requests (organization_id, contact_id)',
      `CREATE INDEX subject_requests_by_due ON subject_requests (due_at) WHERE state IN ('verifying', 'in_progress')`,
      ...rowSecurity('subject_requests', { worker: true }),
      ERASURES,
      `CREATE INDEX contact_erasures_open ON contact_erasures (moved_at) WHERE step <> 'done'`,
      ...rowSecurity('contact_erasures', { worker: true }),
      BLOCKLIST,
      ...rowSecurity('erased_identifiers', { worker: true }),
      RECEIPTS,
      `CREATE INDEX subject_request_receipts_to_verify ON subject_request_receipts (received_at)
         WHERE state = 'received'`,
      ...rowSecurity('subject_request_receipts', { worker: true }),
      EVIDENCE_GOES,
      ...ROWS_OF_CONSENTS('refuse_change_of_consent'),
      GRANT('GRANT'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      GRANT('REVOKE'),
      ...ROWS_OF_CONSENTS('refuse_change_of_append_only'),
      'DROP FUNCTION refuse_change_of_consent()',
      'DROP TABLE subject_request_receipts, erased_identifiers, contact_erasures, subject_requests',
    ]);
  }
}
