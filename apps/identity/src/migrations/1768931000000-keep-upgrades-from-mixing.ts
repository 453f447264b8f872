import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The job of the release before takes every row for a request of the person: it would end the link that they have asked
 * for. What was made by something else is seen by whoever says that it knows of that, and by nobody else.
 */
const REASONS = `
  CREATE POLICY reasons_known ON password_reset_requests AS RESTRICTIVE FOR SELECT
  USING (reason IS NULL OR current_setting('identity.reset_reasons', true) = 'known')`;

/**
 * A proof that names no provider is for the one that there was. Whoever changes that, the release before too, which asks
 * for nothing: from then on the proof has to name it.
 */
const PROVIDER = [
  `CREATE FUNCTION demand_named_provider() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sso_domains SET names_provider = true, next_check_at = now()
   WHERE organization_id = NEW.organization_id AND connection_id = NEW.id AND NOT names_provider;
  RETURN NULL;
END $$`,
  `CREATE TRIGGER demand_named_provider AFTER UPDATE OF issuer, client_id ON sso_connections FOR EACH ROW
   WHEN (NEW.issuer IS DISTINCT FROM OLD.issuer OR NEW.client_id IS DISTINCT FROM OLD.client_id)
   EXECUTE FUNCTION demand_named_provider()`,
];

/** Keeps the release before, while it runs beside this one, from what it does not know. */
export class KeepUpgradesFromMixing1768931000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [REASONS, ...PROVIDER]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER demand_named_provider ON sso_connections',
      'DROP FUNCTION demand_named_provider()',
      'DROP POLICY reasons_known ON password_reset_requests',
    ]);
  }
}
