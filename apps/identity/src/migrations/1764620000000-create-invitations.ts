import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Invitations. The token is no column: it is computed from id and generation, and a resend ends it by counting on.
 * `pending` past its end is shown as expired; it is written down as that when the address is invited again.
 */
const INVITATIONS = `CREATE TABLE invitations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL CHECK (char_length(email) <= 254),
  role_ids uuid[] NOT NULL CHECK (cardinality(role_ids) <= 20),
  locale text,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'expired', 'revoked')),
  generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
  -- How long a token of it holds: a resend gives the same time again.
  life_seconds integer NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  accepted_at timestamptz(3),
  -- When it was sent again, the last times.
  resent_at timestamptz(3)[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT invitations_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id),
  CONSTRAINT invitations_accepted CHECK ((status = 'accepted') = (accepted_at IS NOT NULL))
)`;

/** Invitations to an organization. */
export class CreateInvitations1764620000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      INVITATIONS,
      `CREATE UNIQUE INDEX invitations_pending ON invitations (organization_id, lower(email)) WHERE status = 'pending'`,
      'CREATE INDEX invitations_by_creation ON invitations (organization_id, created_at, id)',
      ...rowSecurity('invitations', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE invitations');
  }
}
