import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `IDENTITY_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 2;

const OF_IDENTITY = `event_type LIKE 'identity.%'`;

/** The tables are bound to an organization even for their owner: this is work across all of them. */
const WORKER = `SET LOCAL app.worker = 'on'`;

/**
 * What has not left yet goes on in the lane, whoever has it in hand at this moment: without its claim it passes no gate
 * any more. What is being handed over keeps its claim and ends as it ends.
 */
const MOVE_UNFINISHED = `
  UPDATE sends SET lane = ${LANE}, source = 'identity', template_id = NULL, template_version = NULL, subject = NULL,
         claim = CASE WHEN state = 'dispatching' THEN claim END
   WHERE (due_at IS NOT NULL OR state = 'held') AND recipient ? 'link'`;

/** Of the templates that only such rules used and that show the link: without it they say nothing. */
const RETIRE_TEMPLATES = `
  UPDATE templates t SET deleted_at = now(), updated_at = now()
   WHERE t.deleted_at IS NULL
     AND EXISTS (SELECT 1 FROM event_routing r WHERE r.organization_id = t.organization_id AND r.template_id = t.id
       AND r.${OF_IDENTITY})
     AND NOT EXISTS (SELECT 1 FROM event_routing r WHERE r.organization_id = t.organization_id AND r.template_id = t.id
       AND r.deleted_at IS NULL AND NOT r.${OF_IDENTITY})
     AND NOT EXISTS (SELECT 1 FROM sends s WHERE s.organization_id = t.organization_id AND s.template_id = t.id
       AND s.due_at IS NOT NULL)
     AND EXISTS (SELECT 1 FROM template_versions v WHERE v.organization_id = t.organization_id AND v.template_id = t.id
       AND v.version = t.published_version AND v::text LIKE '%event.link%')`;

/** Consumers compare the version before they use the rules that they remember. */
const RENEW_RULES = `
  UPDATE organizations SET routing_version = routing_version + 1
   WHERE organization_id IN (SELECT organization_id FROM event_routing WHERE ${OF_IDENTITY})`;

/**
 * Identity's mail becomes the platform's: what waits goes into its lane, and no rule of an organization is left for
 * identity's events. Locks rows only.
 */
export class SeparateIdentityMail1766800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      WORKER,
      MOVE_UNFINISHED,
      RETIRE_TEMPLATES,
      RENEW_RULES,
      `DELETE FROM event_routing WHERE ${OF_IDENTITY}`,
    ]);
  }

  /** The release before knows no such sends: what waits is called off rather than sent in another's name. */
  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      WORKER,
      `UPDATE sends SET state = 'canceled', reason = 'invalid_token', due_at = NULL, claim = NULL
        WHERE lane = ${LANE} AND due_at IS NOT NULL`,
      `UPDATE sends SET lane = 0, source = 'routing' WHERE lane = ${LANE}`,
    ]);
  }
}
