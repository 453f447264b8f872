import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MADE_CHANNELS } from './1768421000000-note-makers-of-channels.js';
import { findMakers } from './noted-makers.js';

/** Who set the channels there are, as the audit log has it. */
export class FindMakersOfChannels1768421010000 implements MigrationInterface {
  readonly transaction = false;

  up(runner: QueryRunner): Promise<void> {
    return findMakers(runner, MADE_CHANNELS);
  }

  /** What was found goes with its columns. */
  async down(): Promise<void> {}
}
