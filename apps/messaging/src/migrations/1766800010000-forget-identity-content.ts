import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `IDENTITY_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 2;

/** The tables are bound to an organization even for their owner: this is work across all of them. */
const WORKER = `SET LOCAL app.worker = 'on'`;

/** What a consumer that still knew a rule wrote while the rules were deleted goes into the lane as well. */
const MOVE_REST = `
  UPDATE sends SET lane = ${LANE}, source = 'identity', template_id = NULL, template_version = NULL, subject = NULL,
         claim = CASE WHEN state = 'dispatching' THEN claim END
   WHERE (due_at IS NOT NULL OR state = 'held') AND recipient ? 'link' AND lane <> ${LANE}`;

/** What a rule said in the organization's own words may hold a link: the subject, of sends long finished too. */
const FORGET_CONTENT = `
  WITH cleared AS (
    UPDATE sends SET subject = NULL WHERE recipient ? 'link' AND subject IS NOT NULL
  )
  DELETE FROM send_payloads p USING sends s
   WHERE s.organization_id = p.organization_id AND s.id = p.send_id AND s.recipient ? 'link'`;

/** Nothing is left of what organizations' rules have written for identity's events. */
export class ForgetIdentityContent1766800010000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [WORKER, MOVE_REST, FORGET_CONTENT]);
  }

  /** What was forgotten stays so. */
  async down(): Promise<void> {}
}
