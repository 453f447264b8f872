import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `IDENTITY_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 2;
const OF_IDENTITY = `event_type LIKE 'identity.%'`;

/** The tables are bound to an organization even for their owner: this is work across all of them. */
const WORKER = `SET LOCAL app.worker = 'on'`;

/** What a rule said in the organization's own words may hold a link: the subject, of sends long finished too. */
const FORGET_CONTENT = `
  WITH cleared AS (
    UPDATE sends SET subject = NULL WHERE recipient ? 'link' AND subject IS NOT NULL
  )
  DELETE FROM send_payloads p USING sends s
   WHERE s.organization_id = p.organization_id AND s.id = p.send_id AND s.recipient ? 'link'`;

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
 * While processes of the release before still run, a dispatcher of theirs must not take up what the lane sends, nor may
 * a rule for identity's events come into being by them.
 */
const GUARDS = [
  `CREATE FUNCTION leave_to_identity_lane() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `CREATE TRIGGER sends_identity_lane BEFORE UPDATE OF claim ON sends FOR EACH ROW
     WHEN (NEW.lane = ${LANE} AND NEW.claim IS NOT NULL AND NEW.claim IS DISTINCT FROM OLD.claim
       AND current_setting('messaging.lane', true) IS DISTINCT FROM 'identity')
     EXECUTE FUNCTION leave_to_identity_lane()`,
  `CREATE FUNCTION retire_identity_rule() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN NEW.enabled := false; NEW.deleted_at := now(); RETURN NEW; END'`,
  `CREATE TRIGGER event_routing_identity BEFORE INSERT OR UPDATE ON event_routing FOR EACH ROW
     WHEN (NEW.event_type LIKE 'identity.%') EXECUTE FUNCTION retire_identity_rule()`,
];

/**
 * Identity's mail becomes the platform's: a lane of its own among the sends, no rule of an organization for identity's
 * events, and nothing left of what such rules have written.
 */
export class SeparateIdentityMail1766800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      WORKER,
      'ALTER TABLE sends DROP CONSTRAINT sends_source_check',
      `ALTER TABLE sends ADD CONSTRAINT sends_source_check
         CHECK (source IN ('api', 'routing', 'campaign', 'identity')) NOT VALID`,
      `CREATE INDEX sends_due_identity ON sends (organization_id, due_at) WHERE lane = ${LANE} AND due_at IS NOT NULL`,
      ...GUARDS,
      MOVE_UNFINISHED,
      FORGET_CONTENT,
      RETIRE_TEMPLATES,
      RENEW_RULES,
      `DELETE FROM event_routing WHERE ${OF_IDENTITY}`,
      'ALTER TABLE sends VALIDATE CONSTRAINT sends_source_check',
    ]);
  }

  /** The release before knows no such sends: what waits is called off rather than sent in another's name. */
  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      WORKER,
      'DROP TRIGGER event_routing_identity ON event_routing',
      'DROP FUNCTION retire_identity_rule()',
      'DROP TRIGGER sends_identity_lane ON sends',
      'DROP FUNCTION leave_to_identity_lane()',
      'DROP INDEX sends_due_identity',
      `UPDATE sends SET state = 'canceled', reason = 'invalid_token', due_at = NULL, claim = NULL
        WHERE lane = ${LANE} AND due_at IS NOT NULL`,
      `UPDATE sends SET lane = 0, source = 'routing' WHERE lane = ${LANE}`,
      'ALTER TABLE sends DROP CONSTRAINT sends_source_check',
      `ALTER TABLE sends ADD CONSTRAINT sends_source_check CHECK (source IN ('api', 'routing', 'campaign'))`,
    ]);
  }
}
