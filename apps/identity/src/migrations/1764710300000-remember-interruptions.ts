import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When an organization was suspended or deleted, or a role deleted (`role_id`), and is not any more: what was accepted
 * unconfirmed in between is not confirmed afterwards. The one that lasts stands on the organization or role itself.
 */
const INTERRUPTIONS = `CREATE TABLE interruptions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  role_id uuid,
  began_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT interruptions_of_organization FOREIGN KEY (organization_id)
    REFERENCES organizations (organization_id) ON DELETE CASCADE,
  CONSTRAINT interruptions_of_role FOREIGN KEY (organization_id, role_id)
    REFERENCES roles (organization_id, id) ON DELETE CASCADE
)`;

/** Runs as worker: an organization above may change the row of one below it. */
const REMEMBER = `CREATE FUNCTION remember_interruption() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former text := coalesce(current_setting('app.worker', true), '');
  before jsonb := to_jsonb(OLD);
  role uuid := CASE TG_TABLE_NAME WHEN 'roles' THEN OLD.id END;
  ended timestamptz := clock_timestamp();
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  IF OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL THEN
    INSERT INTO interruptions (organization_id, role_id, began_at, ended_at)
    VALUES (OLD.organization_id, role, OLD.deleted_at, greatest(ended, OLD.deleted_at));
  END IF;
  IF TG_TABLE_NAME = 'organizations' AND before ->> 'status' = 'suspended' AND to_jsonb(NEW) ->> 'status' = 'active'
     AND before ->> 'suspended_at' IS NOT NULL THEN
    INSERT INTO interruptions (organization_id, began_at, ended_at)
    VALUES (OLD.organization_id, (before ->> 'suspended_at')::timestamptz,
            greatest(ended, (before ->> 'suspended_at')::timestamptz));
  END IF;
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/**
 * The lock waits for memberships that are being made: their foreign key holds the user's row, and while they are not
 * committed nobody sees whose epoch is to be raised.
 */
const raiseOfUser = (
  lock: string,
): string => `CREATE OR REPLACE FUNCTION raise_epochs_of_user() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  former text := coalesce(current_setting('app.worker', true), '');
  row_changed jsonb := to_jsonb(coalesce(NEW, OLD));
  person uuid := coalesce(row_changed ->> 'user_id', row_changed ->> 'id')::uuid;
BEGIN
  PERFORM set_config('app.worker', 'on', true);
  ${lock}
  UPDATE organization_epochs SET epoch = epoch + 1, changed_by = pg_current_xact_id()
   WHERE changed_by <> pg_current_xact_id() AND organization_id IN (
     SELECT organization_id FROM organization_epochs
      WHERE organization_id IN (SELECT organization_id FROM memberships WHERE user_id = person)
      ORDER BY organization_id FOR UPDATE);
  PERFORM set_config('app.worker', former, true);
  RETURN NULL;
END $$`;

/** Two ways in which a right could be taken for one that it was not. */
export class RememberInterruptions1764710300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      INTERRUPTIONS,
      ...rowSecurity('interruptions', { worker: true }),
      REMEMBER,
      `CREATE TRIGGER remember_interruption AFTER UPDATE OF status, deleted_at ON organizations
       FOR EACH ROW EXECUTE FUNCTION remember_interruption()`,
      `CREATE TRIGGER remember_interruption AFTER UPDATE OF deleted_at ON roles
       FOR EACH ROW EXECUTE FUNCTION remember_interruption()`,
      raiseOfUser(`IF TG_TABLE_NAME = 'users' THEN PERFORM FROM users WHERE id = person FOR UPDATE; END IF;`),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      raiseOfUser(''),
      'DROP TRIGGER remember_interruption ON roles',
      'DROP TRIGGER remember_interruption ON organizations',
      'DROP FUNCTION remember_interruption()',
      'DROP TABLE interruptions',
    ]);
  }
}
