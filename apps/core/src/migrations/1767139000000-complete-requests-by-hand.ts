import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The release before makes an archive for every request that is verified and is no erasure: it is refused here. */
const ONLY_ARCHIVES = [
  `CREATE FUNCTION refuse_archive_of_other_requests() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF EXISTS (SELECT FROM subject_requests
                 WHERE organization_id = NEW.organization_id AND id = NEW.subject_request_id
                   AND type NOT IN ('access', 'portability')) THEN
       RAISE EXCEPTION 'request % asks for no archive', NEW.subject_request_id USING ERRCODE = '23514';
     END IF;
     RETURN NEW;
   END $$`,
  `CREATE TRIGGER only_of_archives BEFORE INSERT ON subject_archives
     FOR EACH ROW EXECUTE FUNCTION refuse_archive_of_other_requests()`,
];

/** What a rectification and an opposition ask for, and what was done about a request that is completed by hand. */
export class CompleteRequestsByHand1767139000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE subject_requests ADD COLUMN corrections jsonb, ADD COLUMN purposes text[], ADD COLUMN outcome text',
      ...ONLY_ARCHIVES,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER only_of_archives ON subject_archives',
      'DROP FUNCTION refuse_archive_of_other_requests()',
      'ALTER TABLE subject_requests DROP COLUMN corrections, DROP COLUMN purposes, DROP COLUMN outcome',
    ]);
  }
}
