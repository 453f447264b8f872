import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Apart from the gate's table: what was lifted blocks nobody. What the release before lifts is gone, as ever. */
const LIFTED = `CREATE TABLE lifted_suppressions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  channel text NOT NULL,
  scope text NOT NULL,
  -- Null like the address once the person is erased: there is nothing left to block.
  key text,
  address text,
  reason text NOT NULL,
  note text,
  created_by jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  lifted_by_type text NOT NULL,
  lifted_by_id uuid NOT NULL,
  lifted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
)`;

/** Keeps which suppressions were lifted, when and by whom. */
export class KeepLiftedSuppressions1768942000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      LIFTED,
      'CREATE INDEX lifted_suppressions_by_time ON lifted_suppressions (organization_id, lifted_at, id)',
      'CREATE INDEX lifted_suppressions_by_creation ON lifted_suppressions (organization_id, created_at, id)',
      'CREATE INDEX lifted_suppressions_by_key ON lifted_suppressions (organization_id, key)',
      ...rowSecurity('lifted_suppressions', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE lifted_suppressions');
  }
}
