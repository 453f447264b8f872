import { dropParkedProofs, execute, parkedProofs } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What carried no proof that could be believed is kept with what it carried: once the key is known it can be heard. */
export class KeepProofsOfParkedEvents1768410000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, parkedProofs());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, dropParkedProofs());
  }
}
