import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What retention goes through: what it has emptied it never reads again. */
export class IndexSendsWithContent1767137300000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'sends_with_content',
      'ON sends (organization_id, created_at, id) WHERE content_removed_at IS NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sends_with_content');
  }
}
