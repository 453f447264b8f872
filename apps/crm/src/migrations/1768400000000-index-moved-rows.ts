import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['notes', 'activities', 'list_members', 'object_references'];

/** An erasure takes what was written on its contacts, also where a merge has moved it to another contact. */
export class IndexMovedRows1768400000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES)
      await createIndexConcurrently(
        runner,
        `${table}_moved`,
        `ON ${table} (organization_id, origin_contact_id) WHERE contact_id <> origin_contact_id`,
      );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP INDEX ${table}_moved`);
  }
}
