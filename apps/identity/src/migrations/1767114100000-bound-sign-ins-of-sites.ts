import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Of IPv6 also which /48 has begun a sign-in; the release before writes none. */
export class BoundSignInsOfSites1767114100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE oauth_browser_states ADD COLUMN IF NOT EXISTS site text');
    await createIndexConcurrently(
      runner,
      'oauth_browser_states_by_site',
      'ON oauth_browser_states (site, expires_at) WHERE site IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE oauth_browser_states DROP COLUMN site');
  }
}
