import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rules deleted before an event was received are not read for it, however many there are. */
export class IndexRulesByDeletion1768428000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const on = 'ON rules (organization_id, updated_at) WHERE deleted_at IS NOT NULL';
    await createIndexConcurrently(runner, 'rules_by_deletion', on);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX rules_by_deletion');
  }
}
