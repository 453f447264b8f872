import { execute, signingKeysTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys that identity signs with. */
export class CreateSigningKeys1764500001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, signingKeysTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE signing_keys');
  }
}
