import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Proofs of SSO domains are looked at daily, and name the provider. The release before proves a domain to the organization
 * alone: its proof holds for as long as issuer and client stay.
 */
export class RecheckSsoDomains1768428000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE sso_domains
      ADD COLUMN IF NOT EXISTS names_provider boolean NOT NULL DEFAULT false,
      ADD COLUMN IF NOT EXISTS failing_since timestamptz(3),
      ADD COLUMN IF NOT EXISTS next_check_at timestamptz(3) NOT NULL DEFAULT now()`);
    await createIndexConcurrently(runner, 'sso_domains_by_next_check', 'ON sso_domains (next_check_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE sso_domains
      DROP COLUMN names_provider, DROP COLUMN failing_since, DROP COLUMN next_check_at`);
  }
}
