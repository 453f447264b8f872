import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Of one interaction only the newest requests to providers are kept. */
export class IndexSsoRequestsByInteraction1767123000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const on = 'ON sso_requests (interaction_uid, expires_at)';
    await createIndexConcurrently(runner, 'sso_requests_by_interaction', on);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sso_requests_by_interaction');
  }
}
