import { appendOnly, execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit rows of all modules as one chain per organization: each hash covers its row and the hash before it. */
const AUDIT_LOG = `CREATE TABLE audit_log (
  organization_id uuid NOT NULL,
  seq bigint NOT NULL CHECK (seq > 0),
  id uuid NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  impersonator_id text,
  action text NOT NULL,
  module text NOT NULL,
  resource_type text NOT NULL,
  resource_id text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('success', 'denied')),
  changed_fields text[] NOT NULL,
  correlation_id uuid NOT NULL,
  ip text,
  user_agent text,
  reason text,
  created_at timestamptz(3) NOT NULL,
  prev_hash bytea NOT NULL CHECK (octet_length(prev_hash) = 32),
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (organization_id, seq),
  CONSTRAINT audit_log_once UNIQUE (organization_id, id)
)`;

/** Where each chain ends, what was found when it was last verified, and how far it is signed. */
const AUDIT_CHAINS = `CREATE TABLE audit_chains (
  organization_id uuid NOT NULL,
  head_seq bigint NOT NULL,
  head_hash bytea NOT NULL,
  status text NOT NULL CHECK (status IN ('intact', 'broken')),
  broken_at_seq bigint,
  verified_at timestamptz(3),
  signed_seq bigint NOT NULL,
  sign_at timestamptz(3) NOT NULL,
  verify_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id)
) WITH (fillfactor = 50)`;

/** Signed statements of what the chain was; the same go to a topic, outside this database. */
const AUDIT_CHECKPOINTS = `CREATE TABLE audit_checkpoints (
  organization_id uuid NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  kid text NOT NULL,
  signature text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, seq)
)`;

/** The audit log as a chain of hashes with signed checkpoints. */
export class CreateAuditLog1764210001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      AUDIT_LOG,
      'CREATE INDEX audit_log_by_time ON audit_log (organization_id, occurred_at, seq)',
      'CREATE INDEX audit_log_by_actor ON audit_log (organization_id, actor_id, seq)',
      'CREATE INDEX audit_log_by_action ON audit_log (organization_id, action, seq)',
      'CREATE INDEX audit_log_by_resource ON audit_log (organization_id, resource_id, seq)',
      'CREATE INDEX audit_log_by_correlation ON audit_log (organization_id, correlation_id, seq)',
      ...rowSecurity('audit_log'),
      ...appendOnly('audit_log'),
      AUDIT_CHAINS,
      'CREATE INDEX audit_chains_to_sign ON audit_chains (sign_at) WHERE head_seq > signed_seq',
      'CREATE INDEX audit_chains_to_verify ON audit_chains (verify_at)',
      ...rowSecurity('audit_chains', { worker: true }),
      AUDIT_CHECKPOINTS,
      ...rowSecurity('audit_checkpoints'),
      ...appendOnly('audit_checkpoints'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE audit_checkpoints, audit_chains, audit_log']);
  }
}
