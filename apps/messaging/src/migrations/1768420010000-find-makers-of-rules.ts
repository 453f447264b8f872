import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MADE_RULES } from './1768420000000-note-makers-of-rules.js';
import { findMakers } from './noted-makers.js';

/** Who made the rules there are, as the audit log has it. */
export class FindMakersOfRules1768420010000 implements MigrationInterface {
  readonly transaction = false;

  up(runner: QueryRunner): Promise<void> {
    return findMakers(runner, MADE_RULES);
  }

  /** What was found goes with its columns. */
  async down(): Promise<void> {}
}
