import type { MigrationInterface, QueryRunner } from 'typeorm';
import { forgetMakers, noteMakers, oneDiffers } from './noted-makers.js';

/** Campaigns as far as their makers are concerned; who runs one answers for it, too. */
export const MADE_CAMPAIGNS = {
  table: 'campaigns',
  resource: 'campaigns',
  key: 'id',
  changed: oneDiffers('channel', 'template_id', 'audience_type', 'audience_id', 'data', 'run_id'),
  fields: ['channel', 'template_id', 'audience', 'data'],
  made: 'create',
  run: true,
} as const;

/** A campaign's messages leave by the rights of whoever last said what they tell and to whom, or ran it (messaging.md §9). */
export class NoteMakersOfCampaigns1768422000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return noteMakers(runner, MADE_CAMPAIGNS);
  }

  down(runner: QueryRunner): Promise<void> {
    return forgetMakers(runner, MADE_CAMPAIGNS);
  }
}
