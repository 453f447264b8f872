import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How an organization's people sign in elsewhere. The secret is sealed. */
const SSO_CONNECTIONS = `CREATE TABLE sso_connections (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
  protocol text NOT NULL CHECK (protocol = 'oidc'),
  issuer text NOT NULL,
  client_id text NOT NULL,
  client_secret text NOT NULL,
  domains text[] NOT NULL CHECK (cardinality(domains) BETWEEN 1 AND 20),
  enforced boolean NOT NULL DEFAULT false,
  jit boolean NOT NULL DEFAULT false,
  jit_role_ids uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(jit_role_ids) <= 20),
  status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'active', 'inactive')),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT sso_connections_id UNIQUE (id),
  CONSTRAINT sso_connections_deleted_are_off CHECK (deleted_at IS NULL OR status <> 'active'),
  CONSTRAINT sso_connections_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id)
)`;

/** The domains of active connections: each leads to one connection on the whole platform. */
const SSO_DOMAINS = `CREATE TABLE sso_domains (
  organization_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  domain text NOT NULL CHECK (domain = lower(domain)),
  proven_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, connection_id, domain),
  CONSTRAINT sso_domains_one_connection UNIQUE (domain),
  CONSTRAINT sso_domains_of_connection FOREIGN KEY (organization_id, connection_id)
    REFERENCES sso_connections (organization_id, id)
)`;

/** Who a subject of an issuer is, in the organization whose connection has brought them. */
const SSO_LINKS = `CREATE TABLE sso_links (
  organization_id uuid NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL CHECK (char_length(subject) <= 255),
  user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, issuer, subject),
  CONSTRAINT sso_links_of_organization FOREIGN KEY (organization_id) REFERENCES organizations (organization_id),
  CONSTRAINT sso_links_of_user FOREIGN KEY (user_id) REFERENCES users (id)
)`;

/** Sign-ins that were sent to a provider and have not come back. The state itself is nowhere: SHA-256 of it is. */
const SSO_REQUESTS = `CREATE TABLE sso_requests (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  connection_id uuid NOT NULL,
  -- The interaction of the provider, and whose client asks.
  interaction_uid text NOT NULL,
  client_organization_id uuid NOT NULL,
  state_hash bytea NOT NULL CHECK (octet_length(state_hash) = 32),
  browser_hash bytea NOT NULL CHECK (octet_length(browser_hash) = 32),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** Signing in elsewhere (identity.md §6). */
export class CreateSsoConnections1767104000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SSO_CONNECTIONS,
      'CREATE INDEX sso_connections_by_creation ON sso_connections (organization_id, created_at, id)',
      ...rowSecurity('sso_connections', { worker: true }),
      SSO_DOMAINS,
      ...rowSecurity('sso_domains', { worker: true }),
      SSO_LINKS,
      'CREATE INDEX sso_links_by_user ON sso_links (user_id)',
      ...rowSecurity('sso_links', { worker: true }),
      SSO_REQUESTS,
      // Who comes back knows the state and not the organization. 256 bits collide by no accident.
      'CREATE INDEX sso_requests_by_state ON sso_requests (state_hash)',
      'CREATE INDEX sso_requests_by_end ON sso_requests (expires_at)',
      ...rowSecurity('sso_requests', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sso_requests, sso_links, sso_domains, sso_connections');
  }
}
