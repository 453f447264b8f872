import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The key itself is nowhere: `key_hash` is its SHA-256, `prefix` the 13 characters that may be shown. */
const API_KEYS = `CREATE TABLE api_keys (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  role_id uuid NOT NULL,
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  prefix text NOT NULL CHECK (char_length(prefix) = 13),
  expires_at timestamptz(3),
  rotated_from_id uuid,
  rotated_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT api_keys_of_role FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id),
  CONSTRAINT api_keys_rotated_from FOREIGN KEY (organization_id, rotated_from_id)
    REFERENCES api_keys (organization_id, id)
) WITH (fillfactor = 80)`;

/** Machines' credentials. */
export class CreateApiKeys1763715603000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      API_KEYS,
      // A look-up knows the hash and not the organization. 256 bits collide by no accident, so it need not be unique.
      `CREATE INDEX api_keys_by_hash ON api_keys (key_hash)`,
      `CREATE INDEX api_keys_by_role ON api_keys (organization_id, role_id)`,
      ...rowSecurity('api_keys', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE api_keys');
  }
}
