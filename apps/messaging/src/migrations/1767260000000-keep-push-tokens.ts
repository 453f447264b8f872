import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const TOKENS = `CREATE TABLE push_tokens (
  organization_id uuid NOT NULL,
  -- Core's identity.
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  token text NOT NULL,
  -- What it is matched by: of a browser its endpoint.
  canonical text NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  -- Its provider says that there is no such device; true as long as its suppression stands.
  dead boolean NOT NULL DEFAULT false,
  PRIMARY KEY (organization_id, id)
)`;

/** The devices of contacts, and of whom they are known (ADR 0260). The release before asks core for each push. */
export class KeepPushTokens1767260000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      TOKENS,
      'CREATE INDEX push_tokens_by_contact ON push_tokens (organization_id, contact_id)',
      'CREATE INDEX push_tokens_by_canonical ON push_tokens (organization_id, md5(canonical))',
      ...rowSecurity('push_tokens', { worker: true }),
      // Known where the two are equal. A constant default: no row is written.
      `ALTER TABLE contacts ADD COLUMN devices_epoch integer NOT NULL DEFAULT 0,
         ADD COLUMN devices_known integer, ADD COLUMN devices_learnt_at timestamptz(3)`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE contacts DROP COLUMN devices_epoch, DROP COLUMN devices_known, DROP COLUMN devices_learnt_at',
      'DROP TABLE push_tokens',
    ]);
  }
}
