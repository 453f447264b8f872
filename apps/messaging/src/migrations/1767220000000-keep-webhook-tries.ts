import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CALLS = `CREATE TABLE webhook_test_calls (
  organization_id uuid NOT NULL,
  minute timestamptz(3) NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (organization_id, minute)
)`;

/** Every try of a delivery, what is asked to be told again, keys of two halves, and how often endpoints are tested. */
export class KeepWebhookTries1767220000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      // A constant default: no row is written.
      `ALTER TABLE webhook_deliveries ADD COLUMN tries jsonb NOT NULL DEFAULT '[]'`,
      'ALTER TABLE webhook_endpoints ADD COLUMN replay_since timestamptz(3), ADD COLUMN replay_asked_at timestamptz(3)',
      `ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_signing_check,
         ADD CONSTRAINT webhook_endpoints_signing_check CHECK (signing IN ('v1', 'v1a')) NOT VALID`,
      CALLS,
      ...rowSecurity('webhook_test_calls'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TABLE webhook_test_calls',
      // Nothing signs them any more.
      `UPDATE webhook_endpoints SET signing = 'v1', enabled = false, disabled_reason = 'manual' WHERE signing = 'v1a'`,
      'ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_signing_check',
      `ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_signing_check CHECK (signing IN ('v1'))`,
      'ALTER TABLE webhook_endpoints DROP COLUMN replay_since, DROP COLUMN replay_asked_at',
      'ALTER TABLE webhook_deliveries DROP COLUMN tries',
    ]);
  }
}
