import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `client_id` is the id. Of a secret of 256 random bits the SHA-256 is kept. `generation` changes with whatever ends all
 * that the client was given: a new secret, a deletion.
 */
const OAUTH_CLIENTS = `CREATE TABLE oauth_clients (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  type text NOT NULL CHECK (type IN ('confidential', 'public')),
  grant_types text[] NOT NULL,
  redirect_uris text[] NOT NULL,
  post_logout_redirect_uris text[] NOT NULL,
  require_pkce boolean NOT NULL,
  organizations text NOT NULL CHECK (organizations IN ('own', 'tree')),
  role_id uuid,
  refresh_grace_seconds smallint NOT NULL CHECK (refresh_grace_seconds BETWEEN 0 AND 10),
  secret_hash text CHECK (secret_hash ~ '^[0-9a-f]{64}$'),
  generation uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT oauth_clients_secret CHECK ((type = 'confidential') = (secret_hash IS NOT NULL)),
  CONSTRAINT oauth_clients_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id),
  CONSTRAINT oauth_clients_of_role FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id)
)`;

/**
 * A client's own organization, and all where somebody has a session by it: what they were given ends with it. Whoever
 * begins such a session holds the client's row, so that none is begun unseen. All are locked in one order.
 */
const RAISE = `CREATE FUNCTION raise_epochs_of_client() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former text := coalesce(current_setting('app.worker', true), '');
  client jsonb := to_jsonb(coalesce(NEW, OLD));
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  UPDATE organization_epochs SET epoch = epoch + 1, changed_by = pg_current_xact_id()
   WHERE changed_by <> pg_current_xact_id() AND organization_id IN (
     SELECT organization_id FROM organization_epochs
      WHERE organization_id = (client ->> 'organization_id')::uuid
         OR organization_id IN (SELECT organization_id FROM sessions
                                 WHERE client_id = (client ->> 'id')::uuid AND ended_at IS NULL)
      ORDER BY organization_id FOR UPDATE);
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** Applications that people sign in with, and machines that are principals by client credentials. */
export class CreateOAuthClients1767101000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      OAUTH_CLIENTS,
      // The protocol knows the id and not the organization; it is random, so it need not be unique by itself.
      'CREATE INDEX oauth_clients_by_id ON oauth_clients (id)',
      'CREATE INDEX oauth_clients_by_creation ON oauth_clients (organization_id, created_at, id)',
      'CREATE INDEX oauth_clients_by_role ON oauth_clients (organization_id, role_id) WHERE role_id IS NOT NULL',
      ...rowSecurity('oauth_clients', { worker: true }),
      'ALTER TABLE sessions ADD COLUMN client_generation uuid',
      RAISE,
      `CREATE TRIGGER raise_epochs
       AFTER INSERT OR DELETE OR UPDATE OF role_id, grant_types, generation, deleted_at ON oauth_clients
       FOR EACH ROW EXECUTE FUNCTION raise_epochs_of_client()`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE sessions DROP COLUMN client_generation',
      'DROP TABLE oauth_clients',
      'DROP FUNCTION raise_epochs_of_client()',
    ]);
  }
}
