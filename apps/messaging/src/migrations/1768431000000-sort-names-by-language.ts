import { createTextCollations, dropTextCollations } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The collations in which names are sorted; so few rows are sorted that no index is needed. */
export class SortNamesByLanguage1768431000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createTextCollations(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTextCollations(runner);
  }
}
