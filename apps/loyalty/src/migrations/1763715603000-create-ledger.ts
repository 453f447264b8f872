import { appendOnly, execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose points they are: a random reference, so that erasure can cut the tie without touching the ledger. */
const SUBJECTS = `CREATE TABLE subjects (
  organization_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  contact_id uuid NOT NULL,
  origin_contact_id uuid NOT NULL,
  PRIMARY KEY (organization_id, subject_ref),
  CONSTRAINT subjects_origin UNIQUE (organization_id, origin_contact_id)
)`;

/**
 * `rule_event_hash`: keyed hash of (rule, event), by which an event earns once. A credit opens a lot that has the
 * transaction's own id and ends at `expires_at`.
 */
const TRANSACTIONS = `CREATE TABLE transactions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('earn', 'adjust', 'spend', 'expire', 'reverse')),
  points bigint NOT NULL,
  subject_ref uuid NOT NULL,
  rule_id uuid,
  rule_version integer,
  rule_event_hash bytea,
  reverses_id uuid,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT transactions_once UNIQUE (organization_id, rule_event_hash),
  CONSTRAINT transactions_reversed_once UNIQUE (organization_id, reverses_id),
  CONSTRAINT transactions_rule FOREIGN KEY (organization_id, rule_id) REFERENCES rules (organization_id, id),
  CONSTRAINT transactions_reverses FOREIGN KEY (organization_id, reverses_id)
    REFERENCES transactions (organization_id, id)
)`;

const LINES = `CREATE TABLE lines (
  organization_id uuid NOT NULL,
  transaction_id uuid NOT NULL,
  lot_id uuid NOT NULL,
  points bigint NOT NULL,
  subject_ref uuid NOT NULL,
  PRIMARY KEY (organization_id, transaction_id, lot_id),
  CONSTRAINT lines_transaction FOREIGN KEY (organization_id, transaction_id)
    REFERENCES transactions (organization_id, id)
)`;

const TOMBSTONES = `CREATE TABLE tombstones (
  organization_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  erased_at timestamptz(3) NOT NULL,
  transactions bigint NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (organization_id, subject_ref)
)`;

/** What could tell whose row it is; an event id follows from its idempotency key, often an invoice number. */
const LINKS = `CREATE TABLE links (
  organization_id uuid NOT NULL,
  transaction_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  event_id uuid,
  correlation_id uuid NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  reference text,
  reason text,
  PRIMARY KEY (organization_id, transaction_id),
  CONSTRAINT links_transaction FOREIGN KEY (organization_id, transaction_id)
    REFERENCES transactions (organization_id, id)
)`;

/** Derived: Σ lines by subject. */
const BALANCES = `CREATE TABLE balances (
  organization_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (organization_id, subject_ref)
)`;

/** Derived: Σ lines by lot, with what is needed to take from lots in their order. */
const LOT_BALANCES = `CREATE TABLE lot_balances (
  organization_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  lot_id uuid NOT NULL,
  remaining bigint NOT NULL,
  expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, subject_ref, lot_id)
)`;

const INDEXES = [
  'CREATE INDEX subjects_by_contact ON subjects (organization_id, contact_id)',
  'CREATE INDEX transactions_by_creation ON transactions (organization_id, created_at, id)',
  'CREATE INDEX transactions_by_rule ON transactions (organization_id, rule_id, subject_ref)',
  'CREATE INDEX lines_by_subject ON lines (organization_id, subject_ref, lot_id)',
  // The timeline's order, so that a page anywhere in it is a range of the index.
  'CREATE INDEX links_by_subject ON links (organization_id, subject_ref, occurred_at DESC, transaction_id DESC)',
  'CREATE INDEX links_by_event ON links (organization_id, event_id) WHERE event_id IS NOT NULL',
  'CREATE INDEX links_by_correlation ON links (organization_id, correlation_id)',
  'CREATE INDEX lot_balances_ending ON lot_balances (expires_at) WHERE remaining > 0 AND expires_at IS NOT NULL',
  'CREATE INDEX lot_balances_in_debt ON lot_balances (organization_id, subject_ref) WHERE remaining < 0',
];

const TABLES = [SUBJECTS, TRANSACTIONS, LINES, TOMBSTONES, LINKS, BALANCES, LOT_BALANCES];

/** The point ledger: three tables that only grow, what ties them to people, and sums that can be rebuilt. */
export class CreateLedger1763715603000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...TABLES,
      ...INDEXES,
      ...['subjects', 'transactions', 'lines', 'tombstones', 'links', 'balances'].flatMap((table) =>
        rowSecurity(table),
      ),
      ...rowSecurity('lot_balances', { worker: true }),
      ...['transactions', 'lines', 'tombstones'].flatMap((table) => appendOnly(table)),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE lot_balances, balances, links, tombstones, lines, transactions, subjects');
  }
}
