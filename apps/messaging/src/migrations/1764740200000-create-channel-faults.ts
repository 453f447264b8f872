import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const FAULTS = `CREATE TABLE channel_faults (
  organization_id uuid NOT NULL,
  channel text NOT NULL,
  provider text NOT NULL,
  -- What was refused, and the code it was refused with.
  stage text NOT NULL,
  code int,
  since timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, channel)
)`;

/** Channels whose provider refuses the account, from the first refusal until something gets through. */
export class CreateChannelFaults1764740200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [FAULTS, ...rowSecurity('channel_faults', { worker: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE channel_faults');
  }
}
