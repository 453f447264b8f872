import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the instances share of each limit. Unlogged: it changes a few times a second and is worth nothing after a crash,
 * when every bucket is full again.
 */
const BUCKETS = `CREATE UNLOGGED TABLE rate_limit_buckets (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  per_second float8 NOT NULL,
  capacity float8 NOT NULL,
  owed float8 NOT NULL,
  wanted float8 NOT NULL,
  granted float8 NOT NULL,
  balance float8 NOT NULL,
  filled_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50)`;

/** The instances that share them. No tenant's data: workers only see it. */
const INSTANCES = `CREATE UNLOGGED TABLE rate_limit_instances (
  instance_id uuid PRIMARY KEY,
  seen_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50)`;

const WORKER = `current_setting('app.worker', true) = 'on'`;

/** Where the instances of core take their leases of rate limits from. */
export class ShareRateLimits1766800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      BUCKETS,
      ...rowSecurity('rate_limit_buckets', { worker: true }),
      INSTANCES,
      'ALTER TABLE rate_limit_instances ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE rate_limit_instances FORCE ROW LEVEL SECURITY',
      `CREATE POLICY worker ON rate_limit_instances USING (${WORKER}) WITH CHECK (${WORKER})`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE rate_limit_instances, rate_limit_buckets']);
  }
}
