import { execute, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['contact_refs'];

/** Lets the consumer write the contacts of several organizations at once; what serves a request is bound to its own as before. */
export class OpenContactsToWorkers1766210000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, TABLES.map(workersSee));
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(
      runner,
      TABLES.map((table) => `DROP POLICY worker ON ${table}`),
    );
  }
}
