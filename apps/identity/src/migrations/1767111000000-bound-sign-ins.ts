import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which network has begun a sign-in, so that it begins no more than it may; the release before writes none. */
export class BoundSignIns1767111000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE oauth_browser_states ADD COLUMN IF NOT EXISTS network text');
    await createIndexConcurrently(
      runner,
      'oauth_browser_states_by_network',
      'ON oauth_browser_states (network, expires_at) WHERE network IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE oauth_browser_states DROP COLUMN network');
  }
}
