import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** People. `organization_id` is the home: the organization first joined, until then the one that made the row. */
const USERS = `CREATE TABLE users (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL CHECK (char_length(email) <= 254),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  locale text,
  status text NOT NULL DEFAULT 'invited' CHECK (status IN ('invited', 'active', 'suspended')),
  email_verified boolean NOT NULL DEFAULT false,
  password_hash text,
  password_changed_at timestamptz(3),
  last_sign_in_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  -- The home can change; who refers to a user does not care.
  CONSTRAINT users_id UNIQUE (id),
  CONSTRAINT users_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id)
)`;

const MEMBERSHIPS = `CREATE TABLE memberships (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT memberships_one_each UNIQUE (organization_id, user_id),
  CONSTRAINT memberships_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id),
  CONSTRAINT memberships_of_user FOREIGN KEY (user_id) REFERENCES users (id)
)`;

const ROLE_ASSIGNMENTS = `CREATE TABLE role_assignments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  membership_id uuid NOT NULL,
  role_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT role_assignments_pair UNIQUE (organization_id, membership_id, role_id),
  CONSTRAINT role_assignments_of_membership FOREIGN KEY (organization_id, membership_id)
    REFERENCES memberships (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT role_assignments_of_role FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id)
)`;

/** One user in one organization, from an authentication to its end; kept 90 days after that. */
const SESSIONS = `CREATE TABLE sessions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  client_id uuid,
  amr text[] NOT NULL,
  authenticated_at timestamptz(3) NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  idle_expires_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  ip text,
  user_agent text,
  ended_at timestamptz(3),
  ended_reason text CHECK (ended_reason IN ('logout', 'revoked', 'idle', 'absolute', 'password_changed', 'mfa_changed',
    'user_disabled', 'membership_ended', 'token_reuse')),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT sessions_ended CHECK ((ended_at IS NULL) = (ended_reason IS NULL)),
  CONSTRAINT sessions_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id),
  CONSTRAINT sessions_of_user FOREIGN KEY (user_id) REFERENCES users (id)
)`;

/** Second factors. The secret is sealed; \`last_step\` is the last TOTP step that was taken, which none may repeat. */
const MFA_FACTORS = `CREATE TABLE mfa_factors (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  type text NOT NULL CHECK (type = 'totp'),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  secret bytea NOT NULL,
  last_step bigint,
  pending_until timestamptz(3),
  confirmed_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT mfa_factors_state CHECK ((confirmed_at IS NULL) = (pending_until IS NOT NULL)),
  CONSTRAINT mfa_factors_of_user FOREIGN KEY (user_id) REFERENCES users (id)
)`;

/** How often an organization learned by a refused creation that an address is known: a brake on guessing. */
const ADDRESS_PROBES = `CREATE TABLE address_probes (
  organization_id uuid NOT NULL,
  hour timestamptz(3) NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (organization_id, hour)
)`;

/** The organizations where a user's rights may have changed: all whose member the user is. */
const RAISE_OF_USER = `CREATE FUNCTION raise_epochs_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former text := coalesce(current_setting('app.worker', true), '');
  row_changed jsonb := to_jsonb(coalesce(NEW, OLD));
  person uuid := coalesce(row_changed ->> 'user_id', row_changed ->> 'id')::uuid;
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  UPDATE organization_epochs SET epoch = epoch + 1, changed_by = pg_current_xact_id()
   WHERE changed_by <> pg_current_xact_id() AND organization_id IN (
     SELECT organization_id FROM organization_epochs
      WHERE organization_id IN (SELECT organization_id FROM memberships WHERE user_id = person)
      ORDER BY organization_id FOR UPDATE);
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

const TRIGGERS = {
  memberships: 'INSERT OR DELETE',
  role_assignments: 'INSERT OR DELETE',
  sessions: 'UPDATE OF ended_at, expires_at, amr',
};

/** Users, what makes them members, and what ends with that. */
export class CreatePeople1764500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      USERS,
      'CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE deleted_at IS NULL',
      'CREATE INDEX users_by_creation ON users (organization_id, created_at, id)',
      ...rowSecurity('users', { worker: true }),
      MEMBERSHIPS,
      'CREATE INDEX memberships_by_user ON memberships (user_id)',
      ...rowSecurity('memberships', { worker: true }),
      // Whose member a user is sees the user; whose home it is writes (identity.md §3).
      `CREATE POLICY members ON users FOR SELECT USING (id IN (SELECT user_id FROM memberships))`,
      ROLE_ASSIGNMENTS,
      'CREATE INDEX role_assignments_by_role ON role_assignments (organization_id, role_id)',
      ...rowSecurity('role_assignments', { worker: true }),
      SESSIONS,
      'CREATE INDEX sessions_by_user ON sessions (user_id)',
      'CREATE INDEX sessions_by_creation ON sessions (organization_id, created_at, id)',
      ...rowSecurity('sessions', { worker: true }),
      MFA_FACTORS,
      'CREATE INDEX mfa_factors_by_user ON mfa_factors (user_id)',
      ...rowSecurity('mfa_factors', { worker: true }),
      ADDRESS_PROBES,
      ...rowSecurity('address_probes'),
      RAISE_OF_USER,
      `CREATE TRIGGER raise_epochs AFTER UPDATE OF status, deleted_at, email ON users
       FOR EACH ROW EXECUTE FUNCTION raise_epochs_of_user()`,
      `CREATE TRIGGER raise_epochs AFTER INSERT OR DELETE OR UPDATE OF confirmed_at ON mfa_factors
       FOR EACH ROW EXECUTE FUNCTION raise_epochs_of_user()`,
      ...Object.entries(TRIGGERS).map(
        ([table, changes]) => `CREATE TRIGGER raise_epoch AFTER ${changes} ON ${table}
         FOR EACH ROW EXECUTE FUNCTION raise_organization_epoch()`,
      ),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TABLE address_probes, mfa_factors, sessions, role_assignments, memberships, users',
      'DROP FUNCTION raise_epochs_of_user()',
    ]);
  }
}
