import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tenants take turns in what is gathered; an archive that the release before has begun is its organization's own. */
export class NoteTenantsOfArchives1768933000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE subject_archives ADD COLUMN tenant_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE subject_archives DROP COLUMN tenant_id');
  }
}
