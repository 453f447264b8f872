import { execute, signingKeysTable } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys that core signs with. */
export class CreateSigningKeys1764210000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, signingKeysTable());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE signing_keys']);
  }
}
