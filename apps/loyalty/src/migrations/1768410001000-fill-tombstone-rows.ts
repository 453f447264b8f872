import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Refs of one statement. */
const AT_ONCE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Lots are in the open to work that crosses organizations; whoever has transactions has lots. */
const NEXT_ORGANIZATION = `
  SELECT organization_id AS id FROM lot_balances WHERE organization_id > $1 ORDER BY organization_id LIMIT 1`;
const BURIED = `
  SELECT subject_ref FROM tombstones WHERE organization_id = $1 AND subject_ref > $2
   ORDER BY subject_ref LIMIT ${String(AT_ONCE)}`;
/** No index leads from a ref to its rows: the organization's ledger is read for so many refs at a time. */
const FILL = `
  INSERT INTO tombstone_rows (organization_id, created_at, transaction_id)
  SELECT organization_id, created_at, id FROM transactions
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])
  ON CONFLICT DO NOTHING`;

/** Lists the rows whose names were taken before they were listed. Others post and erase meanwhile; done again it changes nothing. */
export class FillTombstoneRows1768410001000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (
      let last = await organizationAfter(runner, BEFORE_ALL);
      last;
      last = await organizationAfter(runner, last)
    )
      for (let after: string | undefined = BEFORE_ALL; after;) after = await fillAfter(runner, last, after);
  }

  async down(): Promise<void> {
    // The rows go with their table.
  }
}

async function organizationAfter(runner: QueryRunner, last: string): Promise<string | undefined> {
  const found = await inTransaction(runner, `SET LOCAL app.worker = 'on'`, () =>
    rowsOf<{ id: string }>(runner, NEXT_ORGANIZATION, [last]),
  );
  return found[0]?.id;
}

function fillAfter(runner: QueryRunner, organizationId: string, after: string): Promise<string | undefined> {
  return inTransaction(runner, `SET LOCAL app.organization_id = '${organizationId}'`, async () => {
    const rows = await rowsOf<{ subject_ref: string }>(runner, BURIED, [organizationId, after]);
    const refs = rows.map((row) => row.subject_ref);
    if (refs.length > 0) await runner.query(FILL, [organizationId, refs]);
    return refs.at(-1);
  });
}

async function inTransaction<T>(runner: QueryRunner, setting: string, work: () => Promise<T>): Promise<T> {
  await runner.startTransaction();
  try {
    await runner.query(setting);
    const result = await work();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

async function rowsOf<Row>(runner: QueryRunner, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
  return (await runner.query(sql, [...parameters])) as Row[];
}
