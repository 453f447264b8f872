import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TOKENS = `CREATE TABLE webhook_tokens (
  -- The nil UUID for calls in the platform's own account.
  organization_id uuid NOT NULL,
  provider text NOT NULL,
  token_hash bytea NOT NULL,
  body_hash bytea NOT NULL,
  -- When its signed time is no longer fresh, whatever clocks say.
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, provider, token_hash)
)`;

/** Tokens that providers sign instead of a body: each is good for one. */
export class CreateWebhookTokens1767240000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      TOKENS,
      'CREATE INDEX webhook_tokens_expires ON webhook_tokens (expires_at)',
      ...rowSecurity('webhook_tokens', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_tokens');
  }
}
