import { dropIndexesByLanguage, indexByLanguage } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Texts of records in the order of each collation, without the rows that stand for no value. */
export class SortRecordsByLanguage1768442000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexByLanguage(
      runner,
      'object_texts_by_value',
      (collate) =>
        `ON object_texts (organization_id, definition_id, number, (value ${collate}), record_id) INCLUDE (live)
          WHERE value < '~'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropIndexesByLanguage(runner, 'object_texts_by_value');
  }
}
