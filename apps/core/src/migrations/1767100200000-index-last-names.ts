import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Contacts by how their last names begin: in bytes, whatever the order of the database. */
export class IndexLastNames1767100200000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'contacts_by_last_name_beginning',
      'ON contacts (organization_id, (last_name COLLATE "C")) WHERE last_name IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX contacts_by_last_name_beginning');
  }
}
