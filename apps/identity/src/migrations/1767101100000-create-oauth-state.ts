import { execute, rowSecurity, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a client was allowed in one session: a grant of the protocol is a session of ours, and ends with it. */
const OAUTH_GRANTS = `CREATE TABLE oauth_grants (
  organization_id uuid NOT NULL,
  session_id uuid NOT NULL,
  client_id uuid NOT NULL,
  browser text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, session_id),
  CONSTRAINT oauth_grants_of_session FOREIGN KEY (organization_id, session_id)
    REFERENCES sessions (organization_id, id) ON DELETE CASCADE
)`;

/** Codes and refresh tokens, by their SHA-256: 256 random bits need no slower hash. */
const OAUTH_TOKENS = `CREATE TABLE oauth_tokens (
  organization_id uuid NOT NULL,
  token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
  kind text NOT NULL CHECK (kind IN ('AuthorizationCode', 'RefreshToken')),
  session_id uuid NOT NULL,
  payload jsonb NOT NULL,
  consumed_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, token_hash),
  CONSTRAINT oauth_tokens_of_session FOREIGN KEY (organization_id, session_id)
    REFERENCES sessions (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80)`;

/**
 * What a browser is amid: who has signed in there, and sign-ins under way. It is of no organization: which one a person
 * wants is chosen in it.
 */
const OAUTH_BROWSER_STATES = `CREATE TABLE oauth_browser_states (
  state_hash bytea NOT NULL CHECK (octet_length(state_hash) = 32),
  kind text NOT NULL CHECK (kind IN ('Interaction', 'Session')),
  uid text,
  payload jsonb NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (state_hash)
) WITH (fillfactor = 80)`;

/** What the OAuth provider keeps between two requests. */
export class CreateOAuthState1767101100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      OAUTH_GRANTS,
      'CREATE INDEX oauth_grants_by_browser ON oauth_grants (browser)',
      ...rowSecurity('oauth_grants', { worker: true }),
      OAUTH_TOKENS,
      'CREATE INDEX oauth_tokens_by_hash ON oauth_tokens (token_hash)',
      'CREATE INDEX oauth_tokens_by_session ON oauth_tokens (organization_id, session_id)',
      'CREATE INDEX oauth_tokens_by_end ON oauth_tokens (expires_at)',
      ...rowSecurity('oauth_tokens', { worker: true }),
      OAUTH_BROWSER_STATES,
      'CREATE INDEX oauth_browser_states_by_uid ON oauth_browser_states (uid) WHERE uid IS NOT NULL',
      'CREATE INDEX oauth_browser_states_by_end ON oauth_browser_states (expires_at)',
      'ALTER TABLE oauth_browser_states ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE oauth_browser_states FORCE ROW LEVEL SECURITY',
      workersSee('oauth_browser_states'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE oauth_browser_states, oauth_tokens, oauth_grants');
  }
}
