import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where the records of a contact belong follows from `contact_refs`; `contacts` are all whom the work may concern. */
const JOBS = `CREATE TABLE contact_record_jobs (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  contacts uuid[] NOT NULL,
  cursor_id uuid,
  moved_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, contact_id)
)`;

/** Until the receipt, which names nobody, is there. */
const ERASURES = `CREATE TABLE contact_erasures (
  organization_id uuid NOT NULL,
  subject_request_id uuid NOT NULL,
  contact_ids uuid[] NOT NULL,
  counts jsonb NOT NULL,
  correlation_id uuid NOT NULL,
  causation_id uuid NOT NULL,
  begun_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, subject_request_id)
)`;

/** Merges and erasures of contacts with many records go on in pieces (crm.md §1, §5). */
export class CreateContactRecordJobs1768200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      JOBS,
      'CREATE INDEX contact_record_jobs_by_turn ON contact_record_jobs (moved_at)',
      ERASURES,
      ...['contact_record_jobs', 'contact_erasures'].flatMap((table) => rowSecurity(table, { worker: true })),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE contact_erasures, contact_record_jobs']);
  }
}
