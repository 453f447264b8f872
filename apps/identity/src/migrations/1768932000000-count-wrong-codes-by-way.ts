import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The organization whose SSO connection had let in who gave a wrong code. The release before writes none, and counts all
 * as one.
 */
export class CountWrongCodesByWay1768932000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE mfa_failures ADD COLUMN connection_of uuid']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['ALTER TABLE mfa_failures DROP COLUMN connection_of']);
  }
}
