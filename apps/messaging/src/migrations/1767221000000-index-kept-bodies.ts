import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As deliveries are asked for by it (`delivery-id.ts`). */
const ID = `overlay(overlay(md5(endpoint_id::text || event_id::text) PLACING '8' FROM 13 FOR 1)
  PLACING '8' FROM 17 FOR 1)::uuid`;

const INDEXES: Record<string, string> = {
  webhook_deliveries_by_id: `ON webhook_deliveries (organization_id, (${ID}))`,
  webhook_deliveries_by_state: `ON webhook_deliveries (organization_id, endpoint_id, state, created_at, event_id)
    WHERE state <> 'delivered'`,
  webhook_deliveries_bodies: `ON webhook_deliveries (created_at) WHERE payload IS NOT NULL AND state <> 'pending'`,
  webhook_deliveries_bodies_by_contact: `ON webhook_deliveries (organization_id, contact_id)
    WHERE payload IS NOT NULL AND contact_id IS NOT NULL`,
  webhook_deliveries_bodies_of_no_contact: `ON webhook_deliveries (organization_id, event_id)
    WHERE payload IS NOT NULL AND contact_id IS NULL`,
};

/** Took what waits alone; an erasure looks for every body that is kept now. */
const BEFORE: Record<string, string> = {
  webhook_deliveries_by_contact: `ON webhook_deliveries (organization_id, contact_id)
    WHERE state = 'pending' AND contact_id IS NOT NULL`,
  webhook_deliveries_of_no_contact: `ON webhook_deliveries (organization_id, event_id)
    WHERE state = 'pending' AND contact_id IS NULL`,
};

/** How a delivery is found by its id, by its state, and by the body that it keeps after its end. */
export class IndexKeptBodies1767221000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES))
      await createIndexConcurrently(runner, name, definition);
    for (const name of Object.keys(BEFORE)) await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    // The endpoints there were are signed by v1: this reads all rows and keeps nobody from any.
    await runner.query('ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_signing_check');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(BEFORE))
      await runner.query(`CREATE INDEX ${name} ${definition}`);
    await runner.query(`DROP INDEX ${Object.keys(INDEXES).join(', ')}`);
  }
}
