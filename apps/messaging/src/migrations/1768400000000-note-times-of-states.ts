import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Since when an organization is as identity said last: what is told again later changes nothing. */
export class NoteTimesOfStates1768400000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE organizations ADD COLUMN status_at timestamptz(3)']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE organizations DROP COLUMN status_at']);
  }
}
