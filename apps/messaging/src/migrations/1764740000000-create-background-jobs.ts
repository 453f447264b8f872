import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const JOBS = `CREATE TABLE background_jobs (
  organization_id uuid NOT NULL,
  kind text NOT NULL,
  target_id uuid NOT NULL,
  -- What came into being later is not meant.
  until timestamptz(3) NOT NULL,
  -- The last row that has been gone through, where a job goes through rows in their order.
  position uuid,
  failures integer NOT NULL DEFAULT 0,
  due_at timestamptz(3) NOT NULL,
  worked_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (organization_id, kind, target_id)
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)`;

/** Work on any number of rows that no request waits for. */
export class CreateBackgroundJobs1764740000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      JOBS,
      ...rowSecurity('background_jobs', { worker: true }),
      // An endpoint goes at once, what was told to it in pieces after it.
      'ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_endpoint',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `DELETE FROM webhook_deliveries d WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoints e
        WHERE e.organization_id = d.organization_id AND e.id = d.endpoint_id)`,
      `ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_endpoint
        FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoints`,
      'DROP TABLE background_jobs',
    ]);
  }
}
