import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES: Record<string, string> = {
  webhook_deliveries_by_contact: `ON webhook_deliveries (organization_id, contact_id)
    WHERE state = 'pending' AND contact_id IS NOT NULL`,
  webhook_deliveries_of_no_contact: `ON webhook_deliveries (organization_id, event_id)
    WHERE state = 'pending' AND contact_id IS NULL`,
};

/**
 * The one contact that a delivery is about, by which its erasure finds it. Null: about nobody, about several, or queued
 * by the release before; those that wait are gone through in the order of the second index.
 */
export class NoteContactsOfDeliveries1766920000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that could not be finished leaves the column behind for the next try.
    await runner.query('ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS contact_id uuid');
    for (const [name, definition] of Object.entries(INDEXES))
      await createIndexConcurrently(runner, name, definition);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhook_deliveries DROP COLUMN contact_id');
  }
}
