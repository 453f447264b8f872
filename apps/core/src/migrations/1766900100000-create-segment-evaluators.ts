import { execute, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The instances that evaluate segments, each with when it last told that it comes on, and the organizations that it
 * has set aside. No tenant's data: workers only see it. A row is written every second and never grows.
 */
const EVALUATORS = `CREATE TABLE segment_evaluators (
  id uuid PRIMARY KEY,
  seen_at timestamptz(3) NOT NULL,
  set_aside uuid[] NOT NULL
) WITH (fillfactor = 50)`;

/** Instances share the organizations. One of the release before tells nothing and looks at all of them, as it did. */
export class CreateSegmentEvaluators1766900100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      EVALUATORS,
      'ALTER TABLE segment_evaluators ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE segment_evaluators FORCE ROW LEVEL SECURITY',
      workersSee('segment_evaluators'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE segment_evaluators']);
  }
}
