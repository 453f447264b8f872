import { execute, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets the worker's retention remove errors of imports of all organizations; requests are bound to their own as before. */
export class OpenImportErrorsToWorkers1767133500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [workersSee('import_errors')]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP POLICY worker ON import_errors']);
  }
}
