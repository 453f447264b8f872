import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Merges that were undone go with either contact when it is purged: the deletion looks for them by both. */
export class IndexMergedContacts1764110003000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'CREATE INDEX contact_merges_by_merged ON contact_merges (organization_id, merged_id, place)',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP INDEX contact_merges_by_merged']);
  }
}
