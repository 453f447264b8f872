import { createTextCollations, dropTextCollations } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The collations in which names are sorted; of the rows of a list all are sorted, as before. */
export class SortNamesByLanguage1768431000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createTextCollations(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTextCollations(runner);
  }
}
