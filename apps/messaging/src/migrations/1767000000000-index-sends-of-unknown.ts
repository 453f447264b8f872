import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Unfinished sends to contacts that are not known here yet, or to another one than was asked for (the survivor of a
 * merge): what an erasure looks through, and few. Under row level
 * security no index is sought by what is in a JSON, but one may be made of the rows that have it.
 */
export class IndexSendsOfUnknown1767000000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(
      runner,
      'sends_unfinished_of_unknown',
      `ON sends (organization_id, id)
        WHERE due_at IS NOT NULL
          AND (contact_id IS NULL AND recipient ? 'external_id'
            OR recipient ->> 'contact_id' IS DISTINCT FROM contact_id::text AND recipient ? 'contact_id')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sends_unfinished_of_unknown');
  }
}
