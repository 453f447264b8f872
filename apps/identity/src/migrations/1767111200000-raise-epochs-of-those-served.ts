import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const RAISE_CHANGES = 'role_id, grant_types, generation, deleted_at';

/**
 * Who signed in with a client of an organization above loses that while the organization is suspended or deleted. All are
 * locked in one order, the organization's own with them; its name puts it before the trigger that raises its own alone.
 */
const RAISE = `CREATE FUNCTION raise_epochs_of_those_served() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE former text := coalesce(current_setting('app.worker', true), '');
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  UPDATE organization_epochs SET epoch = epoch + 1, changed_by = pg_current_xact_id()
   WHERE changed_by <> pg_current_xact_id() AND organization_id IN (
     SELECT e.organization_id FROM organization_epochs e
      WHERE e.organization_id = NEW.organization_id OR e.organization_id IN (
        SELECT s.organization_id FROM oauth_clients c
          JOIN sessions s ON s.client_id = c.id AND s.ended_at IS NULL
         WHERE c.organization_id = NEW.organization_id AND c.organizations = 'tree')
      ORDER BY e.organization_id FOR UPDATE);
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** What ends with the organization of a client, and with whom the client serves, ends within a second (identity.md §8). */
export class RaiseEpochsOfThoseServed1767111200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      RAISE,
      `CREATE TRIGGER raise_by_clients AFTER UPDATE OF status, deleted_at ON organizations FOR EACH ROW
       WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
       EXECUTE FUNCTION raise_epochs_of_those_served()`,
      raiseOfClients(`${RAISE_CHANGES}, organizations`),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      raiseOfClients(RAISE_CHANGES),
      'DROP TRIGGER raise_by_clients ON organizations',
      'DROP FUNCTION raise_epochs_of_those_served()',
    ]);
  }
}

function raiseOfClients(changes: string): string {
  return `CREATE OR REPLACE TRIGGER raise_epochs AFTER INSERT OR DELETE OR UPDATE OF ${changes} ON oauth_clients
          FOR EACH ROW EXECUTE FUNCTION raise_epochs_of_client()`;
}
