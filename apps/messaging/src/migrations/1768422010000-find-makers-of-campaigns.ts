import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MADE_CAMPAIGNS } from './1768422000000-note-makers-of-campaigns.js';
import { findMakers } from './noted-makers.js';

/** Who made or ran the campaigns there are, as the audit log has it. */
export class FindMakersOfCampaigns1768422010000 implements MigrationInterface {
  readonly transaction = false;

  up(runner: QueryRunner): Promise<void> {
    return findMakers(runner, MADE_CAMPAIGNS);
  }

  /** What was found goes with its columns. */
  async down(): Promise<void> {}
}
