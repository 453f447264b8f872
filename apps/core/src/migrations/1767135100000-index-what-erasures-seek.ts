import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What erasures seek: the ends of a contact's consents, the dead letters that hold an event still, and the answers that
 * are not given yet.
 */
const INDEXES = {
  consent_expirations_by_contact: 'ON consent_expirations (organization_id, contact_id)',
  dead_letters_with_payload: 'ON dead_letters (organization_id, id) WHERE payload IS NOT NULL',
  idempotency_keys_open: 'ON idempotency_keys (organization_id, created_at) WHERE status IS NULL',
} as const;

/** Without them each piece of an erasure would read all that the organization has of it. */
export class IndexWhatErasuresSeek1767135100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES))
      await createIndexConcurrently(runner, name, definition);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX ${Object.keys(INDEXES).join(', ')}`);
  }
}
