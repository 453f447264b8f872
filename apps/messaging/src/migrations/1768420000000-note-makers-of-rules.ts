import type { MigrationInterface, QueryRunner } from 'typeorm';
import { execute, rowSecurity } from '@customer-platform/database';
import { forgetMakers, noteMakers, oneDiffers } from './noted-makers.js';

/** Rules as far as their makers are concerned. */
export const MADE_RULES = {
  table: 'event_routing',
  resource: 'routing',
  key: 'id',
  changed: oneDiffers('event_type', 'event_name', 'condition', 'channel', 'template_id', 'recipient'),
  fields: ['event_type', 'event_name', 'condition', 'channel', 'template_id', 'recipient'],
  made: 'create',
} as const;

const PUBLISHERS = `CREATE TABLE template_publishers (
  organization_id uuid NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  -- Who published that version last; none of what was published before, or by the release before.
  publisher_type text NOT NULL,
  publisher_id uuid NOT NULL,
  PRIMARY KEY (organization_id, template_id, version),
  FOREIGN KEY (organization_id, template_id, version) REFERENCES template_versions ON DELETE CASCADE
)`;

/**
 * A rule carries out what its maker may read (messaging.md §3), by the version of its template that they saw; what is
 * published later goes by the rights of whoever published it.
 */
export class NoteMakersOfRules1768420000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await noteMakers(runner, MADE_RULES);
    await execute(runner, [
      'ALTER TABLE event_routing ADD COLUMN vouched_version integer',
      PUBLISHERS,
      ...rowSecurity('template_publishers', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TABLE template_publishers',
      'ALTER TABLE event_routing DROP COLUMN vouched_version',
    ]);
    await forgetMakers(runner, MADE_RULES);
  }
}
