import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Purged segments whose members are still to be cleared away. */
const REMOVALS = `CREATE TABLE segment_removals (
  organization_id uuid NOT NULL,
  segment_id uuid NOT NULL,
  PRIMARY KEY (organization_id, segment_id)
)`;

/**
 * A segment may have a million members: its purge leaves them to the evaluation, which clears them away piece by
 * piece. So the members must be allowed to outlive it for a while.
 */
export class RemoveMembersLater1764680000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      REMOVALS,
      ...rowSecurity('segment_removals', { worker: true }),
      'ALTER TABLE segment_members DROP CONSTRAINT segment_members_segment',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `DELETE FROM segment_members AS member USING segment_removals AS removal
        WHERE member.organization_id = removal.organization_id AND member.segment_id = removal.segment_id`,
      'DROP TABLE segment_removals',
      `ALTER TABLE segment_members ADD CONSTRAINT segment_members_segment
         FOREIGN KEY (organization_id, segment_id) REFERENCES segments (organization_id, id) ON DELETE CASCADE`,
    ]);
  }
}
