import { execute, steadyStatistics, usualStatistics } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'campaign_members';

/** Plans for the members of a run that began since the last ANALYZE as for those of all others. */
export class SteadyMembers1767270000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [...steadyStatistics(TABLE, 'one'), ...steadyStatistics(TABLE, 'one', 'run_id')]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [...usualStatistics(TABLE), ...usualStatistics(TABLE, 'run_id')]);
  }
}
