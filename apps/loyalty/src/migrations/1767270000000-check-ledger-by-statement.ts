import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As a foreign key tells it: by its name a violation is known. */
const REFUSE = (constraint: string, what: string): string =>
  `RAISE EXCEPTION USING ERRCODE = '23503', CONSTRAINT = ${constraint}, TABLE = TG_TABLE_NAME, MESSAGE = ${what}`;

/** Each row by its whole key (OFFSET 0 keeps the planner from joining, which reads the ledger). */
const lacking = (key: string): string => `EXISTS (
      SELECT FROM added WHERE added.${key} IS NOT NULL AND NOT EXISTS (
        SELECT FROM transactions WHERE organization_id = added.organization_id AND id = added.${key} OFFSET 0))`;

/** A transaction is never changed or deleted: one that is there when a row is written stays. */
const OF_TRANSACTION = `CREATE FUNCTION demand_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${lacking('transaction_id')} THEN
    ${REFUSE(`TG_TABLE_NAME || '_transaction'`, `'A row belongs to no transaction'`)};
  END IF;
  RETURN NULL;
END $$`;

/** Locks each rule once, as a foreign key does: a purge that is under way is waited for, and then seen. */
const OF_RULE = `CREATE FUNCTION demand_rules_and_reversed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM (SELECT DISTINCT organization_id, rule_id FROM added WHERE rule_id IS NOT NULL) AS given
    LEFT JOIN LATERAL (
      SELECT id FROM rules WHERE organization_id = given.organization_id AND id = given.rule_id FOR KEY SHARE) AS kept ON true
   WHERE kept.id IS NULL;
  IF FOUND THEN
    ${REFUSE(`'transactions_rule'`, `'A transaction is of no rule'`)};
  END IF;
  IF ${lacking('reverses_id')} THEN
    ${REFUSE(`'transactions_reverses'`, `'A transaction reverses none'`)};
  END IF;
  RETURN NULL;
END $$`;

/** The other half: a rule that gave points stays. */
const KEEP_RULES = `CREATE FUNCTION keep_rules_of_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.organization_id, NEW.id) = (OLD.organization_id, OLD.id) THEN
    RETURN NULL;
  END IF;
  IF EXISTS (SELECT FROM transactions WHERE organization_id = OLD.organization_id AND rule_id = OLD.id) THEN
    ${REFUSE(`'transactions_rule'`, `'A rule has transactions'`)};
  END IF;
  RETURN NULL;
END $$`;

const check = (name: string, table: string, what: string): string =>
  `CREATE TRIGGER ${name} AFTER ${what} ON ${table} REFERENCING NEW TABLE AS added FOR EACH STATEMENT`;

const TRIGGERS = [
  `${check('lines_transaction_check', 'lines', 'INSERT')} EXECUTE FUNCTION demand_transactions()`,
  `${check('links_transaction_check', 'links', 'INSERT')} EXECUTE FUNCTION demand_transactions()`,
  `${check('links_transaction_check_again', 'links', 'UPDATE')} EXECUTE FUNCTION demand_transactions()`,
  `${check('transactions_references_check', 'transactions', 'INSERT')} EXECUTE FUNCTION demand_rules_and_reversed()`,
  `CREATE TRIGGER rules_transactions_check AFTER DELETE OR UPDATE OF organization_id, id ON rules
     FOR EACH ROW EXECUTE FUNCTION keep_rules_of_transactions()`,
];

const KEYS = [
  ['lines', 'lines_transaction'],
  ['links', 'links_transaction'],
  ['transactions', 'transactions_rule'],
  ['transactions', 'transactions_reverses'],
] as const;

/** From PostgreSQL 18 on a key can stand without being enforced; before it, rows are checked by both. */
const keysAre = (how: 'ENFORCED' | 'NOT ENFORCED'): string[] =>
  KEYS.map(
    ([table, key]) => `DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
      EXECUTE 'ALTER TABLE ${table} ALTER CONSTRAINT ${key} ${how}';
    END IF;
  END $$`,
  );

/**
 * The ledger's foreign keys are checked once a statement. Row by row they were a third of what it cost PostgreSQL to
 * post what rules give (ADR 305).
 */
export class CheckLedgerByStatement1767270000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [OF_TRANSACTION, OF_RULE, KEEP_RULES, ...TRIGGERS, ...keysAre('NOT ENFORCED')]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...keysAre('ENFORCED'),
      'DROP TRIGGER rules_transactions_check ON rules',
      'DROP TRIGGER transactions_references_check ON transactions',
      'DROP TRIGGER links_transaction_check_again ON links',
      'DROP TRIGGER links_transaction_check ON links',
      'DROP TRIGGER lines_transaction_check ON lines',
      'DROP FUNCTION keep_rules_of_transactions(), demand_rules_and_reversed(), demand_transactions()',
    ]);
  }
}
