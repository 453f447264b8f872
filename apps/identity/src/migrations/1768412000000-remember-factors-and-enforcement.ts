import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * By which SSO connection somebody was in who confirmed a second factor, and since when a connection is enforced. The
 * release before writes neither; what is enforced by now is taken to be so from here on.
 */
export class RememberFactorsAndEnforcement1768412000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE mfa_factors ADD COLUMN connection_id uuid',
      'ALTER TABLE sso_connections ADD COLUMN enforced_at timestamptz(3)',
      `UPDATE sso_connections SET enforced_at = now() WHERE enforced AND status = 'active'`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE sso_connections DROP COLUMN enforced_at',
      'ALTER TABLE mfa_factors DROP COLUMN connection_id',
    ]);
  }
}
