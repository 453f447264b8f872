import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Notes up to which row a chain was found intact; the release before notes when alone. */
export class NoteVerifiedRows1768941100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_chains ADD COLUMN verified_seq bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_chains DROP COLUMN verified_seq');
  }
}
