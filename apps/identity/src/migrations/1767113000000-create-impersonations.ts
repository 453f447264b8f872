import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A user acting as another, for half an hour at most; kept 90 days after its end, as sessions are. A table of its own: to
 * a service of the release before, which would know nothing of the actor, its tokens are those of no session.
 */
const IMPERSONATIONS = `CREATE TABLE impersonations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  actor_id uuid NOT NULL,
  -- The session it was begun in: it ends with that.
  actor_session_id uuid NOT NULL,
  user_id uuid NOT NULL CHECK (user_id <> actor_id),
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 10 AND 500),
  -- Of that session: how the actor has authenticated, and for which OAuth client.
  client_id uuid,
  amr text[] NOT NULL CHECK ('mfa' = ANY (amr)),
  authenticated_at timestamptz(3) NOT NULL,
  ip text,
  user_agent text,
  expires_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  ended_reason text CHECK (ended_reason IN ('logout', 'revoked', 'idle', 'absolute', 'password_changed', 'mfa_changed',
    'user_disabled', 'membership_ended', 'token_reuse')),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT impersonations_ended CHECK ((ended_at IS NULL) = (ended_reason IS NULL)),
  CONSTRAINT impersonations_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id)
    ON DELETE CASCADE,
  -- A service of the release before purges users without knowing of this table.
  CONSTRAINT impersonations_of_actor FOREIGN KEY (actor_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT impersonations_of_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
)`;

/** Users who act as others (identity.md §6). */
export class CreateImpersonations1767113000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      IMPERSONATIONS,
      'CREATE INDEX impersonations_by_creation ON impersonations (organization_id, created_at, id)',
      'CREATE INDEX impersonations_by_user ON impersonations (user_id)',
      'CREATE INDEX impersonations_by_actor ON impersonations (actor_id)',
      'CREATE INDEX impersonations_by_session ON impersonations (actor_session_id) WHERE ended_at IS NULL',
      'CREATE INDEX impersonations_open ON impersonations (expires_at) WHERE ended_at IS NULL',
      ...rowSecurity('impersonations', { worker: true }),
      `CREATE TRIGGER raise_epoch AFTER UPDATE OF ended_at, expires_at ON impersonations
       FOR EACH ROW EXECUTE FUNCTION raise_organization_epoch()`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE impersonations');
  }
}
