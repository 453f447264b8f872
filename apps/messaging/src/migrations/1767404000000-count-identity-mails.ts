import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const MAILS = `CREATE TABLE identity_mails (
  -- The platform's own, the root: an address is counted over all organizations.
  organization_id uuid NOT NULL,
  send_id uuid NOT NULL,
  kind text NOT NULL,
  -- Keyed hash of the mailbox, its tag left out.
  address_key text NOT NULL,
  -- The organization below the root, with all beneath it.
  tenant_id uuid NOT NULL,
  counted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, send_id)
)`;

/** Which mails of identity's have had a place of the last day's (ADR 0404). The release before counts none. */
export class CountIdentityMails1767404000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      MAILS,
      'CREATE INDEX identity_mails_by_address ON identity_mails (organization_id, kind, address_key, counted_at)',
      'CREATE INDEX identity_mails_by_tenant ON identity_mails (organization_id, kind, tenant_id, counted_at)',
      'CREATE INDEX identity_mails_by_age ON identity_mails (counted_at)',
      ...rowSecurity('identity_mails', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE identity_mails');
  }
}
