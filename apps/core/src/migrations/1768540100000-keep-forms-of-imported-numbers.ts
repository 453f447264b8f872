import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps how the numbers of a file's columns are written, and what was expected where a cell holds something else. */
export class KeepFormsOfImportedNumbers1768540100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE imports ADD COLUMN number_forms jsonb');
    await runner.query('ALTER TABLE import_errors ADD COLUMN detail text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE import_errors DROP COLUMN detail');
    await runner.query('ALTER TABLE imports DROP COLUMN number_forms');
  }
}
