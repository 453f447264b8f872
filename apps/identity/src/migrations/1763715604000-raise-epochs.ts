import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Raises an organization's epoch, once in a transaction. The row stays locked until the transaction ends, so epochs
 * grow in the order of commits. Runs as worker: an organization above may change the row of one below it.
 */
const RAISE = `CREATE FUNCTION raise_organization_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE former text := coalesce(current_setting('app.worker', true), '');
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  INSERT INTO organization_epochs AS known (organization_id, epoch, changed_by)
  VALUES (coalesce(NEW.organization_id, OLD.organization_id), 1, pg_current_xact_id())
  ON CONFLICT (organization_id) DO UPDATE SET epoch = known.epoch + 1, changed_by = pg_current_xact_id()
    WHERE known.changed_by <> pg_current_xact_id();
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** The built-in roles are every organization's. */
const RAISE_ALL = `CREATE FUNCTION raise_all_organization_epochs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE former text := coalesce(current_setting('app.worker', true), '');
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  UPDATE organization_epochs SET epoch = epoch + 1, changed_by = pg_current_xact_id()
   WHERE organization_id IN (
     SELECT organization_id FROM organization_epochs
      WHERE changed_by <> pg_current_xact_id() ORDER BY organization_id FOR UPDATE);
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** In one place, so that no code path can change a right and forget it: triggers on every table that holds rights. */
const TRIGGERS = {
  organizations: 'UPDATE OF status, settings, locale, timezone, deleted_at',
  roles: 'UPDATE OF kind, key, deleted_at',
  role_permissions: 'INSERT OR DELETE OR UPDATE',
  api_keys: 'INSERT OR DELETE OR UPDATE OF role_id, key_hash, expires_at, revoked_at',
};

/** The epochs of identity.md §8, raised in the transaction of every change. */
export class RaiseEpochs1763715604000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      RAISE,
      RAISE_ALL,
      // An organization has an epoch from its first moment on.
      `CREATE TRIGGER begin_epoch AFTER INSERT ON organizations
       FOR EACH ROW EXECUTE FUNCTION raise_organization_epoch()`,
      ...Object.entries(TRIGGERS).map(
        ([table, changes]) => `CREATE TRIGGER raise_epoch AFTER ${changes} ON ${table}
         FOR EACH ROW EXECUTE FUNCTION raise_organization_epoch()`,
      ),
      `CREATE TRIGGER raise_all_epochs AFTER INSERT OR DELETE OR UPDATE ON built_in_permissions
       FOR EACH STATEMENT EXECUTE FUNCTION raise_all_organization_epochs()`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER raise_all_epochs ON built_in_permissions',
      ...Object.keys(TRIGGERS).map((table) => `DROP TRIGGER raise_epoch ON ${table}`),
      'DROP TRIGGER begin_epoch ON organizations',
      'DROP FUNCTION raise_organization_epoch()',
      'DROP FUNCTION raise_all_organization_epochs()',
    ]);
  }
}
