import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The archive of a request for access or portability, and how far it has come: `module`, `after` and `pieces` say where
 * the gathering goes on. `key_sealed` is the key that its pieces are sealed by. Whoever works on it holds `claim`.
 */
const ARCHIVES = `CREATE TABLE subject_archives (
  organization_id uuid NOT NULL,
  subject_request_id uuid NOT NULL,
  contact_ids uuid[] NOT NULL,
  portable boolean NOT NULL,
  locale text NOT NULL,
  correlation_id uuid NOT NULL,
  step text NOT NULL CHECK (step IN ('gather', 'write', 'ready')),
  module text NOT NULL,
  after jsonb,
  pieces integer NOT NULL,
  key_sealed text NOT NULL,
  claim uuid,
  claimed_until timestamptz(3) NOT NULL,
  moved_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  PRIMARY KEY (organization_id, subject_request_id)
)`;

/** Sealed bytes, in their order: rows of a resource as they were gathered, or the file that is handed over. */
const PIECES = `CREATE TABLE subject_archive_pieces (
  organization_id uuid NOT NULL,
  subject_request_id uuid NOT NULL,
  part text NOT NULL CHECK (part IN ('rows', 'file')),
  seq integer NOT NULL,
  module text,
  resource text,
  row_count integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (organization_id, subject_request_id, part, seq),
  FOREIGN KEY (organization_id, subject_request_id) REFERENCES subject_archives ON DELETE CASCADE
)`;

/** The release before takes every request that is verified for an erasure: it is refused here, before it begins. */
const ONLY_ERASURES = [
  `CREATE FUNCTION refuse_erasure_of_other_requests() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF EXISTS (SELECT FROM subject_requests
                 WHERE organization_id = NEW.organization_id AND id = NEW.subject_request_id AND type <> 'erasure') THEN
       RAISE EXCEPTION 'request % asks for no erasure', NEW.subject_request_id USING ERRCODE = '23514';
     END IF;
     RETURN NEW;
   END $$`,
  `CREATE TRIGGER only_of_erasures BEFORE INSERT ON contact_erasures
     FOR EACH ROW EXECUTE FUNCTION refuse_erasure_of_other_requests()`,
];

/** Archives of what is held of a person. */
export class CreateSubjectArchives1767134000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ARCHIVES,
      `CREATE INDEX subject_archives_open ON subject_archives (moved_at) WHERE step <> 'ready'`,
      'CREATE INDEX subject_archives_by_end ON subject_archives (expires_at) WHERE expires_at IS NOT NULL',
      ...rowSecurity('subject_archives', { worker: true }),
      PIECES,
      ...rowSecurity('subject_archive_pieces', { worker: true }),
      `ALTER TABLE subject_requests
         ADD COLUMN locale text, ADD COLUMN result_sha256 text, ADD COLUMN result_bytes bigint,
         ADD COLUMN result_expires_at timestamptz(3)`,
      ...ONLY_ERASURES,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER only_of_erasures ON contact_erasures',
      'DROP FUNCTION refuse_erasure_of_other_requests()',
      `ALTER TABLE subject_requests
         DROP COLUMN locale, DROP COLUMN result_sha256, DROP COLUMN result_bytes, DROP COLUMN result_expires_at`,
      'DROP TABLE subject_archive_pieces, subject_archives',
    ]);
  }
}
