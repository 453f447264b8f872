import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who was merged into a contact is asked with each merge, undo and erasure. */
export class IndexMergedContacts1768200001000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'contact_refs_by_survivor',
      'ON contact_refs (organization_id, merged_into) WHERE merged_into IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX contact_refs_by_survivor');
  }
}
