import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const REPORTS = `CREATE TABLE provider_reports (
  -- The nil UUID for reports in the platform's own account: their sends may be anybody's.
  organization_id uuid NOT NULL,
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  -- The provider's id of the event, or what happened: a repeat has the same.
  event_key text NOT NULL,
  event text NOT NULL,
  provider_event_id text,
  bounce_type text,
  -- The send that the provider's own callback named.
  named_send uuid,
  send_id uuid,
  -- Of whom it was about, as suppressions are keyed: soft bounces are counted by it.
  address_key text,
  occurred_at timestamptz(3) NOT NULL,
  received_at timestamptz(3) NOT NULL,
  applied_at timestamptz(3),
  -- When it is looked at again, while its send is not known or not out of hand; null once it is settled.
  due_at timestamptz(3),
  PRIMARY KEY (organization_id, provider, provider_message_id, event_key)
) WITH (autovacuum_vacuum_scale_factor = 0.05)`;

/** What providers report of sends, each report once. */
export class CreateProviderReports1764690000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      REPORTS,
      'CREATE INDEX provider_reports_due ON provider_reports (due_at) WHERE due_at IS NOT NULL',
      'CREATE INDEX provider_reports_received ON provider_reports (received_at)',
      `CREATE INDEX provider_reports_soft ON provider_reports (address_key, occurred_at)
        WHERE event = 'bounced' AND bounce_type = 'soft'`,
      ...rowSecurity('provider_reports', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE provider_reports');
  }
}
