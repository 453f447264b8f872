import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES: Record<string, string> = {
  sends_unfinished_by_source: `ON sends (organization_id, source_id, id)
    WHERE due_at IS NOT NULL AND source_id IS NOT NULL`,
  sends_suspended: `ON sends (organization_id, id) WHERE state = 'held' AND reason = 'organization_suspended'`,
  webhook_deliveries_pending: `ON webhook_deliveries (organization_id, endpoint_id, event_id)
    WHERE state = 'pending'`,
};

/** What the pieces of background jobs seek by. */
export class IndexBackgroundWork1764740010000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) {
      await createIndexConcurrently(runner, name, definition);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX ${Object.keys(INDEXES).join(', ')}`);
  }
}
