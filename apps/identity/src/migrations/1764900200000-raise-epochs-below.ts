import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The limits of an organization are those of all below it too: their epochs rise with its own, all locked in one order,
 * whatever part of the tree is changed beside it. Its name puts it before the trigger that raises its own alone.
 */
const RAISE_BELOW = `CREATE FUNCTION raise_epochs_below() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE former text := coalesce(current_setting('app.worker', true), '');
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  UPDATE organization_epochs SET epoch = epoch + 1, changed_by = pg_current_xact_id()
   WHERE changed_by <> pg_current_xact_id() AND organization_id IN (
     SELECT e.organization_id FROM organization_epochs e
       JOIN organizations o ON o.organization_id = e.organization_id
      WHERE o.path @> ARRAY[NEW.organization_id] ORDER BY e.organization_id FOR UPDATE OF e);
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** Rate limits reach down the tree (identity.md §2). */
export class RaiseEpochsBelow1764900200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      RAISE_BELOW,
      `CREATE TRIGGER raise_below AFTER UPDATE OF settings ON organizations FOR EACH ROW
       WHEN (OLD.settings -> 'rate_limits' IS DISTINCT FROM NEW.settings -> 'rate_limits')
       EXECUTE FUNCTION raise_epochs_below()`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER raise_below ON organizations',
      'DROP FUNCTION raise_epochs_below()',
    ]);
  }
}
