import { createIndexConcurrently } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What ends with a client is found by it. */
export class IndexSessionsByClient1767101200000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const going = 'client_id IS NOT NULL AND ended_at IS NULL';
    await createIndexConcurrently(runner, 'sessions_by_client', `ON sessions (client_id) WHERE ${going}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sessions_by_client');
  }
}
