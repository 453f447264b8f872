import { execute, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['contact_refs', 'erased_contacts', 'rule_revisions'];

/** Lets the consumer's statements carry rows of several organizations; what serves a request is bound to its own as before. */
export class OpenEventsToWorkers1766210000000 implements MigrationInterface {
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
