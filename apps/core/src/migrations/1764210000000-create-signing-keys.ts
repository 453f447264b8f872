import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The service's own keys, the private half sealed; they belong to no organization, so workers alone see them. */
const SIGNING_KEYS = `CREATE TABLE signing_keys (
  kid text NOT NULL,
  purpose text NOT NULL,
  public_key jsonb NOT NULL,
  sealed_private_key text NOT NULL,
  usable_from timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (kid)
)`;

const WORKER = `current_setting('app.worker', true) = 'on'`;

/** The keys that core signs with. */
export class CreateSigningKeys1764210000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SIGNING_KEYS,
      'CREATE INDEX signing_keys_by_use ON signing_keys (purpose, usable_from)',
      'ALTER TABLE signing_keys ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE signing_keys FORCE ROW LEVEL SECURITY',
      `CREATE POLICY worker ON signing_keys USING (${WORKER}) WITH CHECK (${WORKER})`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE signing_keys']);
  }
}
