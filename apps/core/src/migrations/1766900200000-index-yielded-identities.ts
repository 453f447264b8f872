import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Contacts by an identity, soft-deleted ones among them, are asked for by what they have yielded too: without an index
 * all identities of the organization were read for it. Few are yielded.
 */
export class IndexYieldedIdentities1766900200000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'identities_yielded',
      'ON identities (organization_id, type, normal_value) WHERE yielded_at IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX identities_yielded');
  }
}
