import {
  createTextCollations,
  dropIndexesByLanguage,
  dropTextCollations,
  indexByLanguage,
} from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONTACTS = 'contacts_by_last_name';

/**
 * Contacts by their last names in the order of each language. The index in the order of the database stays for the release
 * before, and for its cursors.
 */
export class SortNamesByLanguage1768431000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createTextCollations(runner);
    await indexByLanguage(
      runner,
      CONTACTS,
      (collate) =>
        `ON contacts (organization_id, ((CASE WHEN last_name IS NULL THEN '' ELSE last_name END) ${collate}), id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropIndexesByLanguage(runner, CONTACTS);
    await dropTextCollations(runner);
  }
}
