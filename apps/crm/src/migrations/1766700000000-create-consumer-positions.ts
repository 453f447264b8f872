import { consumerPositionsTable, execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far each consumer has come, restored together with its effects. */
export class CreateConsumerPositions1766700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, consumerPositionsTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE consumer_positions']);
  }
}
