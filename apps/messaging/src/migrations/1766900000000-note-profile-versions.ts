import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which version of a contact its profile is of. Null: of the row's own version, as all that the release before writes.
 * While its processes still run, a snapshot of theirs after a merge leaves the column behind, and only the next one
 * brings it forward.
 */
export class NoteProfileVersions1766900000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE contacts ADD COLUMN profile_version bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE contacts DROP COLUMN profile_version');
  }
}
