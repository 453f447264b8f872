import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const WHO = {
  before: ['NEW.actor_type', 'NEW.actor_id::uuid', 'maker_type IS NULL'],
  // Also where a process of the release before has written the one who is acted as.
  now: [
    `CASE WHEN NEW.impersonator_id IS NULL THEN NEW.actor_type ELSE 'user' END`,
    'coalesce(NEW.impersonator_id, NEW.actor_id)::uuid',
    '(maker_type IS NULL OR NEW.impersonator_id IS NOT NULL)',
  ],
} as const;

const noting = ([type, id, where]: readonly string[]): string => `
  CREATE OR REPLACE FUNCTION note_webhook_maker() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE webhook_endpoints SET maker_type = ${String(type)}, maker_id = ${String(id)}
     WHERE organization_id = NEW.organization_id AND id = NEW.resource_id::uuid AND ${String(where)};
    RETURN NULL;
  END $$`;

const known = (types: string): string[] => [
  'DROP TRIGGER audit_entries_webhook_maker ON audit_entries',
  `CREATE TRIGGER audit_entries_webhook_maker AFTER INSERT ON audit_entries FOR EACH ROW
     WHEN (NEW.resource_type = 'webhooks' AND NEW.outcome = 'success' AND NEW.actor_type IN (${types})
       AND (NEW.action = 'messaging.webhooks.create'
         OR NEW.action = 'messaging.webhooks.update' AND NEW.changed_fields && '{events,url}'))
     EXECUTE FUNCTION note_webhook_maker()`,
  `ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_maker_type_check,
     ADD CONSTRAINT webhook_endpoints_maker_type_check CHECK (maker_type IN (${types})) NOT VALID`,
];

/**
 * OAuth clients make endpoints too. Of whoever acts as another the endpoint is their own: it outlives the impersonation
 * (identity.md §6).
 */
export class NoteFurtherWebhookMakers1767113100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [noting(WHO.now), ...known(`'api_key', 'oauth_client', 'user'`)]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [noting(WHO.before), ...known(`'api_key', 'user'`)]);
  }
}
