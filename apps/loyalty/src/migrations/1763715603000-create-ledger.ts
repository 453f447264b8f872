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

/** The largest number of points that JSON carries exactly: 2^53 − 1. */
const MOST = 9_007_199_254_740_991;

/**
 * A credit opens a lot that has the transaction's own id and ends at `expires_at`. What happens once has a key that is
 * there once: `rule_event_hash` of (rule, event), `idempotency_hash` of a posting's `Idempotency-Key` (beside the
 * `request_hash` of its body), `reverses_id`, `expired_lot_id`. The hashes are keyed: nobody can try keys on them.
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
  expired_lot_id uuid,
  idempotency_hash bytea,
  request_hash bytea,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT transactions_points_exact CHECK (points BETWEEN -${MOST} AND ${MOST} AND points <> 0),
  CONSTRAINT transactions_earn_complete CHECK (kind <> 'earn'
    OR (points > 0 AND rule_id IS NOT NULL AND rule_version IS NOT NULL AND rule_event_hash IS NOT NULL)),
  CONSTRAINT transactions_reverse_complete CHECK ((kind = 'reverse') = (reverses_id IS NOT NULL)),
  CONSTRAINT transactions_expire_complete CHECK ((kind = 'expire') = (expired_lot_id IS NOT NULL)),
  CONSTRAINT transactions_rule FOREIGN KEY (organization_id, rule_id) REFERENCES rules (organization_id, id),
  CONSTRAINT transactions_reverses FOREIGN KEY (organization_id, reverses_id)
    REFERENCES transactions (organization_id, id)
)`;

/**
 * Partial, not constraints: on a table that is still empty the planner takes any unique index that begins with
 * organization_id for the foreign keys' look-ups, keeps that plan, and reads all rows of the organization each time.
 */
const ONCE = ['rule_event_hash', 'reverses_id', 'expired_lot_id', 'idempotency_hash'].map(
  (key) =>
    `CREATE UNIQUE INDEX transactions_once_${key} ON transactions (organization_id, ${key}) WHERE ${key} IS NOT NULL`,
);

const LINES = `CREATE TABLE lines (
  organization_id uuid NOT NULL,
  transaction_id uuid NOT NULL,
  lot_id uuid NOT NULL,
  points bigint NOT NULL CHECK (points <> 0),
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

/** Derived: Σ lines by subject, which never leaves the numbers that can be told exactly. */
const BALANCES = `CREATE TABLE balances (
  organization_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (organization_id, subject_ref),
  CONSTRAINT balances_points_exact CHECK (points BETWEEN -${MOST} AND ${MOST})
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
      ...ONCE,
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
