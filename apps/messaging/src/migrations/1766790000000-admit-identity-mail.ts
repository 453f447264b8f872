import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `IDENTITY_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 2;

/**
 * While processes of the release before still run, a dispatcher of theirs must not take up what the lane sends, nor may
 * a rule for identity's events come into being by them.
 */
const RULES_GUARD = [
  `CREATE FUNCTION retire_identity_rule() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN NEW.enabled := false; NEW.deleted_at := now(); RETURN NEW; END'`,
  `CREATE TRIGGER event_routing_identity BEFORE INSERT OR UPDATE ON event_routing FOR EACH ROW
     WHEN (NEW.event_type LIKE 'identity.%') EXECUTE FUNCTION retire_identity_rule()`,
];
const LANE_GUARD = [
  `CREATE FUNCTION leave_to_identity_lane() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `CREATE TRIGGER sends_identity_lane BEFORE UPDATE OF claim ON sends FOR EACH ROW
     WHEN (NEW.lane = ${LANE} AND NEW.claim IS NOT NULL AND NEW.claim IS DISTINCT FROM OLD.claim
       AND current_setting('messaging.lane', true) IS DISTINCT FROM 'identity')
     EXECUTE FUNCTION leave_to_identity_lane()`,
];

/**
 * Admits sends of the platform itself beside those of organizations. Locks `sends` for a moment: rows are looked at
 * later, without a lock that anybody waits for.
 */
export class AdmitIdentityMail1766790000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...RULES_GUARD,
      // The strongest lock of a table comes first: one that grows can meet another that does.
      `ALTER TABLE sends DROP CONSTRAINT sends_source_check, ADD CONSTRAINT sends_source_check
         CHECK (source IN ('api', 'routing', 'campaign', 'identity')) NOT VALID`,
      ...LANE_GUARD,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER event_routing_identity ON event_routing',
      'DROP FUNCTION retire_identity_rule()',
      'DROP TRIGGER sends_identity_lane ON sends',
      'DROP FUNCTION leave_to_identity_lane()',
      `ALTER TABLE sends DROP CONSTRAINT sends_source_check, ADD CONSTRAINT sends_source_check
         CHECK (source IN ('api', 'routing', 'campaign'))`,
    ]);
  }
}
