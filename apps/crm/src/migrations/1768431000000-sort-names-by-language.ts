import {
  createTextCollations,
  dropIndexesByLanguage,
  dropTextCollations,
  indexByLanguage,
} from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['activity_types', 'lists', 'object_definitions'];

/** The collations in which names are sorted, with an index for each. Those in the order of the database serve the release before. */
export class SortNamesByLanguage1768431000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createTextCollations(runner);
    for (const table of TABLES)
      await indexByLanguage(
        runner,
        `${table}_by_name`,
        (collate) => `ON ${table} (organization_id, (name ${collate}), id)`,
      );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await dropIndexesByLanguage(runner, `${table}_by_name`);
    await dropTextCollations(runner);
  }
}
