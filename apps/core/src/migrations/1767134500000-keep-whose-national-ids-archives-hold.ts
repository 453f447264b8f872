import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Null of an archive that the release before wrote: it is taken to hold those of everybody in it. */
export class KeepWhoseNationalIdsArchivesHold1767134500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE subject_archives ADD COLUMN national_ids_of uuid[]']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE subject_archives DROP COLUMN national_ids_of']);
  }
}
