import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who has authenticated within an interaction of the provider, until that ends: of the organization whose client asks.
 * `browser_hash` binds it to the one browser.
 */
const SIGN_INS = `CREATE TABLE sign_ins (
  organization_id uuid NOT NULL,
  uid text NOT NULL CHECK (char_length(uid) <= 100),
  browser_hash bytea NOT NULL CHECK (octet_length(browser_hash) = 32),
  user_id uuid NOT NULL,
  amr text[] NOT NULL,
  authenticated_at timestamptz(3) NOT NULL,
  connection_id uuid,
  chosen_organization_id uuid,
  factor_given boolean NOT NULL DEFAULT false,
  factor_id uuid,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, uid)
)`;

/**
 * Passwords that were tried, until they are found right: `pending` while they are looked at. The address is a keyed
 * hash: people mistype, and what they typed is nobody's business.
 */
const PASSWORD_ATTEMPTS = `CREATE TABLE password_attempts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  address_hash bytea NOT NULL CHECK (octet_length(address_hash) = 32),
  network text,
  pending boolean NOT NULL DEFAULT true,
  tried_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** What sign-in keeps between two pages, and what keeps passwords from being guessed. */
export class CreateSignIns1767102000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SIGN_INS,
      'CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at)',
      ...rowSecurity('sign_ins', { worker: true }),
      PASSWORD_ATTEMPTS,
      'CREATE INDEX password_attempts_by_address ON password_attempts (address_hash, tried_at)',
      'CREATE INDEX password_attempts_by_network ON password_attempts (network, tried_at)',
      'CREATE INDEX password_attempts_by_time ON password_attempts (tried_at)',
      ...rowSecurity('password_attempts', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE password_attempts, sign_ins']);
  }
}
