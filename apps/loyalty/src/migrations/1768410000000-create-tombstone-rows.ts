import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Derived: the rows of the ledger that erasures have taken the name of, in the ledger's order. */
const TOMBSTONE_ROWS = `CREATE TABLE tombstone_rows (
  organization_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  transaction_id uuid NOT NULL,
  PRIMARY KEY (organization_id, created_at, transaction_id)
)`;

/** A tombstone comes before the links of its rows go. Each row is sought by its key (OFFSET 0 keeps the planner from joining). */
const BURY = `CREATE FUNCTION list_buried_rows() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO tombstone_rows (organization_id, created_at, transaction_id)
  SELECT buried.organization_id, posted.created_at, posted.id FROM buried
   CROSS JOIN LATERAL (
     SELECT transaction_id FROM links
      WHERE organization_id = buried.organization_id AND subject_ref = buried.subject_ref OFFSET 0) AS link
   CROSS JOIN LATERAL (
     SELECT id, created_at FROM transactions
      WHERE organization_id = buried.organization_id AND id = link.transaction_id OFFSET 0) AS posted
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$`;
const BURIED = `CREATE TRIGGER tombstones_rows AFTER INSERT ON tombstones
  REFERENCING NEW TABLE AS buried FOR EACH STATEMENT EXECUTE FUNCTION list_buried_rows()`;

/** The lots of a tombstone end like all others. */
const EXPIRE = `CREATE FUNCTION list_expired_row() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO tombstone_rows (organization_id, created_at, transaction_id)
  SELECT NEW.organization_id, NEW.created_at, NEW.id FROM tombstones
   WHERE organization_id = NEW.organization_id AND subject_ref = NEW.subject_ref
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$`;
const EXPIRED = `CREATE TRIGGER transactions_tombstone_rows AFTER INSERT ON transactions
  FOR EACH ROW WHEN (NEW.kind = 'expire') EXECUTE FUNCTION list_expired_row()`;

/** Few rows of a ledger are of the erased: they are listed by themselves. By triggers: also the release before lists them. */
export class CreateTombstoneRows1768410000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      TOMBSTONE_ROWS,
      ...rowSecurity('tombstone_rows'),
      BURY,
      EXPIRE,
      // The rows that there are already are listed by a migration of its own, while others post.
      BURIED,
      EXPIRED,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER transactions_tombstone_rows ON transactions',
      'DROP TRIGGER tombstones_rows ON tombstones',
      'DROP FUNCTION list_expired_row()',
      'DROP FUNCTION list_buried_rows()',
      'DROP TABLE tombstone_rows',
    ]);
  }
}
