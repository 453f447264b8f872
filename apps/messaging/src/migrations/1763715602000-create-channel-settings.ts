import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHANNEL_SETTINGS = `CREATE TABLE channel_settings (
  organization_id uuid PRIMARY KEY,
  document jsonb NOT NULL,
  -- Per channel and field: ciphertext, fingerprint, time. Never read by a list or an answer.
  secrets jsonb NOT NULL DEFAULT '{}',
  version bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL
)`;

const CHANNEL_RATES = `CREATE TABLE channel_rates (
  organization_id uuid NOT NULL,
  channel text NOT NULL,
  -- Generic cell rate: up to when the channel's rate has been used, in milliseconds since 1970 and their fractions.
  used_until double precision NOT NULL,
  PRIMARY KEY (organization_id, channel)
) WITH (fillfactor = 50)`;

const CAP_COUNTERS = `CREATE TABLE cap_counters (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  channel text NOT NULL,
  -- 'day' or 'week' of the contact's calendar, and its first day.
  period text NOT NULL,
  begins_on date NOT NULL,
  used integer NOT NULL,
  PRIMARY KEY (organization_id, contact_id, channel, period, begins_on)
)`;

/** How an organization sends, and how much of its allowance is used. */
export class CreateChannelSettings1763715602000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CHANNEL_SETTINGS,
      ...rowSecurity('channel_settings', { worker: true }),
      CHANNEL_RATES,
      ...rowSecurity('channel_rates', { worker: true }),
      CAP_COUNTERS,
      'CREATE INDEX cap_counters_by_day ON cap_counters (begins_on)',
      ...rowSecurity('cap_counters', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE channel_settings, channel_rates, cap_counters');
  }
}
