import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who made the endpoints there are stands in the audit log: whoever created one or last changed its events or URL. The
 * log shows each organization its own rows alone, so they are gone through one by one.
 */
const FIND_MAKERS = `DO $$
DECLARE
  former_worker text := coalesce(current_setting('app.worker', true), '');
  former_organization text := coalesce(current_setting('app.organization_id', true), '');
  organization uuid;
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  FOR organization IN SELECT DISTINCT organization_id FROM webhook_endpoints LOOP
    PERFORM set_config('app.organization_id', organization::text, true);
    UPDATE webhook_endpoints e SET maker_type = made.actor_type, maker_id = made.actor_id::uuid
      FROM (SELECT DISTINCT ON (resource_id) resource_id, actor_type, actor_id FROM audit_entries
             WHERE organization_id = organization AND resource_type = 'webhooks' AND outcome = 'success'
               AND actor_type IN ('api_key', 'user')
               AND (action = 'messaging.webhooks.create'
                    OR action = 'messaging.webhooks.update' AND changed_fields && '{events,url}')
             ORDER BY resource_id, occurred_at DESC, id DESC) AS made
     WHERE e.organization_id = organization AND e.id::text = made.resource_id;
  END LOOP;
  PERFORM set_config('app.worker', former_worker, true);
  PERFORM set_config('app.organization_id', former_organization, true);
END $$`;

/** An endpoint is told what its maker may read (messaging.md §8). Null: made by nobody known, and told nothing. */
export class NoteWebhookMakers1764900300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `ALTER TABLE webhook_endpoints
         ADD COLUMN maker_type text CHECK (maker_type IN ('api_key', 'user')), ADD COLUMN maker_id uuid`,
      FIND_MAKERS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhook_endpoints DROP COLUMN maker_type, DROP COLUMN maker_id');
  }
}
