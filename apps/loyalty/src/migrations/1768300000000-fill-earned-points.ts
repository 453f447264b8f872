import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sums of one transaction: whoever posts to one of these refs waits for so many. */
const AT_ONCE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Lots are in the open to work that crosses organizations; whoever has transactions has lots. */
const NEXT_ORGANIZATION = `
  SELECT organization_id AS id FROM lot_balances WHERE organization_id > $1 ORDER BY organization_id LIMIT 1`;
const PAIRS = `
  SELECT DISTINCT rule_id, subject_ref FROM transactions
   WHERE organization_id = $1 AND (rule_id, subject_ref) > ($2, $3) AND kind = 'earn'
   ORDER BY rule_id, subject_ref LIMIT ${String(AT_ONCE)}`;
/** As whoever posts, in the order of all who lock several. */
const LOCK = `
  SELECT FROM balances WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) ORDER BY subject_ref FOR UPDATE`;
/** Whole sums, not differences: what the trigger counted before is in them. */
const FILL = `
  INSERT INTO earned_points AS kept (organization_id, rule_id, subject_ref, points)
  SELECT $1, given.rule_id, given.subject_ref, sum(earned.points + coalesce(reversal.points, 0))
    FROM unnest($2::uuid[], $3::uuid[]) AS given (rule_id, subject_ref)
   CROSS JOIN LATERAL (
     SELECT id, points FROM transactions
      WHERE organization_id = $1 AND rule_id = given.rule_id AND subject_ref = given.subject_ref AND kind = 'earn'
     OFFSET 0) AS earned
    LEFT JOIN LATERAL (
     SELECT points FROM transactions WHERE organization_id = $1 AND reverses_id = earned.id OFFSET 0) AS reversal ON true
   GROUP BY given.rule_id, given.subject_ref
  ON CONFLICT (organization_id, rule_id, subject_ref) DO UPDATE SET points = excluded.points
   WHERE kept.points <> excluded.points`;

interface Pair {
  readonly rule_id: string;
  readonly subject_ref: string;
}

const FIRST: Pair = { rule_id: BEFORE_ALL, subject_ref: BEFORE_ALL };

/**
 * Counts what rules gave before it was counted as it is posted: some refs at a time, under the locks of those who post to
 * them. Others post meanwhile; what is done again changes nothing.
 */
export class FillEarnedPoints1768300000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (
      let last = await organizationAfter(runner, BEFORE_ALL);
      last;
      last = await organizationAfter(runner, last)
    )
      for (let after: Pair | undefined = FIRST; after;) after = await fillAfter(runner, last, after);
  }

  async down(): Promise<void> {
    // The sums go with their table.
  }
}

async function organizationAfter(runner: QueryRunner, last: string): Promise<string | undefined> {
  const found = await inTransaction(runner, `SET LOCAL app.worker = 'on'`, () =>
    rowsOf<{ id: string }>(runner, NEXT_ORGANIZATION, [last]),
  );
  return found[0]?.id;
}

function fillAfter(runner: QueryRunner, organizationId: string, after: Pair): Promise<Pair | undefined> {
  return inTransaction(runner, `SET LOCAL app.organization_id = '${organizationId}'`, async () => {
    const pairs = await rowsOf<Pair>(runner, PAIRS, [organizationId, after.rule_id, after.subject_ref]);
    const refs = pairs.map((pair) => pair.subject_ref);
    await runner.query(LOCK, [organizationId, refs]);
    // In a statement of its own, which sees all that was posted before the locks were had.
    await runner.query(FILL, [organizationId, pairs.map((pair) => pair.rule_id), refs]);
    return pairs.at(-1);
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
