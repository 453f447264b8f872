import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Derived: what a rule ever gave a ref, less what was reversed of it; what counts for caps is within it. */
const EARNED_POINTS = `CREATE TABLE earned_points (
  organization_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  subject_ref uuid NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (organization_id, rule_id, subject_ref)
)`;

/** Of new rows, each reversed one sought by its key (OFFSET 0 keeps the planner from joining, which reads the ledger). */
const COUNT = `CREATE FUNCTION count_earned_points() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO earned_points AS known (organization_id, rule_id, subject_ref, points)
  SELECT organization_id, rule_id, subject_ref, sum(points)
    FROM (SELECT organization_id, rule_id, subject_ref, points FROM added WHERE kind = 'earn'
          UNION ALL
          SELECT added.organization_id, earned.rule_id, earned.subject_ref, added.points FROM added
           CROSS JOIN LATERAL (
             SELECT rule_id, subject_ref FROM transactions
              WHERE organization_id = added.organization_id AND id = added.reverses_id AND kind = 'earn' OFFSET 0) AS earned
           WHERE added.reverses_id IS NOT NULL) AS moved
   GROUP BY organization_id, rule_id, subject_ref ORDER BY organization_id, rule_id, subject_ref
  ON CONFLICT (organization_id, rule_id, subject_ref) DO UPDATE SET points = known.points + excluded.points;
  RETURN NULL;
END $$`;

/** By a trigger: also the release before this one counts what it posts. */
const TRIGGER = `CREATE TRIGGER transactions_earned_points AFTER INSERT ON transactions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_earned_points()`;

/** What rules gave contacts is counted as it is posted: a cap no longer sums all of it each time. */
export class CountEarnedPoints1768100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      EARNED_POINTS,
      COUNT,
      ...rowSecurity('earned_points'),
      // The rows that there are already are counted by a migration of its own, while others post.
      TRIGGER,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER transactions_earned_points ON transactions',
      'DROP FUNCTION count_earned_points()',
      'DROP TABLE earned_points',
    ]);
  }
}
