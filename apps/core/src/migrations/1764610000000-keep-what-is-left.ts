import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a stored event that failed at a later stage has still to do: names and ids, and no value of the contact. Whoever
 * blanks a letter's payload blanks this with it.
 */
export class KeepWhatIsLeft1764610000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE dead_letters ADD COLUMN remainder jsonb']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE dead_letters DROP COLUMN remainder']);
  }
}
