import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** SHA-256 of 120 random bits: nothing to guess, so nothing to slow down. */
const RECOVERY_CODES = `CREATE TABLE recovery_codes (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
  used_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT recovery_codes_of_user FOREIGN KEY (user_id) REFERENCES users (id)
)`;

/** Wrong codes, which count against the next ones for a while. */
const MFA_FAILURES = `CREATE TABLE mfa_failures (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  failed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT mfa_failures_of_user FOREIGN KEY (user_id) REFERENCES users (id)
)`;

/** What stands in for a second factor, and what keeps either from being guessed. */
export class CreateRecoveryCodes1764500002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      RECOVERY_CODES,
      'CREATE INDEX recovery_codes_by_user ON recovery_codes (user_id)',
      ...rowSecurity('recovery_codes', { worker: true }),
      MFA_FAILURES,
      'CREATE INDEX mfa_failures_by_user ON mfa_failures (user_id, failed_at)',
      ...rowSecurity('mfa_failures', { worker: true }),
      'ALTER TABLE sessions ADD COLUMN mfa_at timestamptz(3)',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE sessions DROP COLUMN mfa_at',
      'DROP TABLE mfa_failures, recovery_codes',
    ]);
  }
}
