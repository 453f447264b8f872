import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was asked for and not looked at yet. Nobody knows whose address it is, if anybody's: such rows are the root
 * organization's.
 */
const REQUESTS = `CREATE TABLE password_reset_requests (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL CHECK (char_length(email) <= 254),
  locale text,
  ip text,
  user_agent text,
  correlation_id uuid NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT password_reset_requests_of_organization FOREIGN KEY (organization_id)
    REFERENCES organizations (organization_id)
)`;

/** When an address, or an IP, asked within the last hour; of the root organization, as the requests. */
const LIMITS = `CREATE TABLE password_reset_limits (
  organization_id uuid NOT NULL,
  asker text NOT NULL,
  asked_at timestamptz(3)[] NOT NULL,
  last_asked_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, asker)
)`;

/** One row a user, at home. The token is no column: it is computed from id and generation, which every mail counts on. */
const RESETS = `CREATE TABLE password_resets (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
  locale text,
  -- Whether the newest token may still be used.
  open boolean NOT NULL DEFAULT true,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT password_resets_user UNIQUE (organization_id, user_id),
  CONSTRAINT password_resets_of_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
)`;

/** In one place, so that no way to suspend somebody or to set a password can forget it. */
const CLOSE = `CREATE FUNCTION close_password_resets() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE former text := coalesce(current_setting('app.worker', true), '');
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  UPDATE password_resets SET open = false WHERE user_id = NEW.id AND open;
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** How somebody gets a new password who has forgotten theirs (identity.md §5). */
export class CreatePasswordResets1767103000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      REQUESTS,
      ...rowSecurity('password_reset_requests', { worker: true }),
      LIMITS,
      'CREATE INDEX password_reset_limits_by_age ON password_reset_limits (last_asked_at)',
      ...rowSecurity('password_reset_limits', { worker: true }),
      RESETS,
      'CREATE INDEX password_resets_by_user ON password_resets (user_id)',
      ...rowSecurity('password_resets', { worker: true }),
      CLOSE,
      `CREATE TRIGGER close_password_resets AFTER UPDATE OF status, deleted_at, password_changed_at ON users
       FOR EACH ROW WHEN (NEW.status <> 'active' OR NEW.deleted_at IS NOT NULL
                          OR NEW.password_changed_at IS DISTINCT FROM OLD.password_changed_at)
       EXECUTE FUNCTION close_password_resets()`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER close_password_resets ON users',
      'DROP FUNCTION close_password_resets()',
      'DROP TABLE password_resets, password_reset_limits, password_reset_requests',
    ]);
  }
}
