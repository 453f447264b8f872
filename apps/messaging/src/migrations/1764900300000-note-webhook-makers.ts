import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Processes of the release before write no maker. What they change then has none until the transaction writes its audit
 * row, which names who acts: the maker is whoever created the endpoint or last changed its events or URL, as always. An
 * endpoint whose maker stayed while another changed its URL would tell that other what the maker may read.
 */
const GUARDS = [
  `CREATE FUNCTION forget_webhook_maker() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN NEW.maker_type := NULL; NEW.maker_id := NULL; RETURN NEW; END'`,
  `CREATE TRIGGER webhook_endpoints_maker BEFORE UPDATE ON webhook_endpoints FOR EACH ROW
     WHEN ((NEW.url <> OLD.url OR NOT (NEW.events @> OLD.events AND NEW.events <@ OLD.events))
       AND (NEW.maker_type, NEW.maker_id) IS NOT DISTINCT FROM (OLD.maker_type, OLD.maker_id))
     EXECUTE FUNCTION forget_webhook_maker()`,
  `CREATE FUNCTION note_webhook_maker() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     UPDATE webhook_endpoints SET maker_type = NEW.actor_type, maker_id = NEW.actor_id::uuid
      WHERE organization_id = NEW.organization_id AND id = NEW.resource_id::uuid AND maker_type IS NULL;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER audit_entries_webhook_maker AFTER INSERT ON audit_entries FOR EACH ROW
     WHEN (NEW.resource_type = 'webhooks' AND NEW.outcome = 'success' AND NEW.actor_type IN ('api_key', 'user')
       AND (NEW.action = 'messaging.webhooks.create'
         OR NEW.action = 'messaging.webhooks.update' AND NEW.changed_fields && '{events,url}'))
     EXECUTE FUNCTION note_webhook_maker()`,
];

/**
 * An endpoint is told what its maker may read (messaging.md §8). Null: made by nobody known, and told nothing. The
 * endpoints there are get theirs by the next migration, in which no table is locked.
 */
export class NoteWebhookMakers1764900300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE webhook_endpoints ADD COLUMN maker_type text, ADD COLUMN maker_id uuid',
      `ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_maker_type_check
         CHECK (maker_type IN ('api_key', 'user')) NOT VALID`,
      ...GUARDS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER audit_entries_webhook_maker ON audit_entries',
      'DROP FUNCTION note_webhook_maker()',
      'DROP TRIGGER webhook_endpoints_maker ON webhook_endpoints',
      'DROP FUNCTION forget_webhook_maker()',
      'ALTER TABLE webhook_endpoints DROP COLUMN maker_type, DROP COLUMN maker_id',
    ]);
  }
}
