import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const states = (list: string): string[] => [
  'ALTER TABLE contact_refs DROP CONSTRAINT contact_refs_state_check',
  `ALTER TABLE contact_refs ADD CONSTRAINT contact_refs_state_check CHECK (state IN (${list}))`,
];

/** A purged contact is remembered as such, so that an older event that comes again cannot bring it back. */
export class FollowPurgedContacts1763715605000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, states(`'active', 'merged', 'deleted', 'purged'`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, states(`'active', 'merged', 'deleted'`));
  }
}
