import { execute } from '@customer-platform/database';
import type { QueryRunner } from 'typeorm';

/** A table of what goes on by the rights of its makers, as migrations know it. */
interface MadeTable {
  readonly table: string;
  /** `messaging.<resource>.<verb>` of its audit rows. */
  readonly resource: string;
  /** What audit rows name a row by. */
  readonly key: 'id' | 'organization_id';
  /** Says of OLD and NEW whether something else is carried out, or elsewhere. */
  readonly changed: string;
  /** As audit rows name what is changed then. */
  readonly fields: readonly string[];
  /** Where audit rows name such fields without a change: whether a row without a maker has one to be noted. */
  readonly noted?: string;
  /** A setting of whoever writes makers itself, where columns and audit rows do not tell what is carried. */
  readonly unless?: string;
  /** Whether who runs it makes it, too. */
  readonly run?: boolean;
  /** What its first audit row is called. */
  readonly made: 'create' | 'update';
}

const KNOWN = `('api_key', 'oauth_client', 'user')`;

/** Who an audit row `a` says has made it: of an impersonation the actor. */
const MAKER = (a: string): string =>
  `CASE WHEN ${a}.impersonator_id IS NULL THEN ${a}.actor_type ELSE 'user' END,
   coalesce(${a}.impersonator_id, ${a}.actor_id)::uuid`;

const MAKES = (a: string, { resource, fields, made, run = false }: MadeTable): string => `
  ${a}.resource_type = '${resource}' AND ${a}.outcome = 'success' AND ${a}.actor_type IN ${KNOWN}
  AND (${made === 'create' ? `${a}.action = 'messaging.${resource}.create' OR` : ''}
       ${run ? `${a}.action = 'messaging.${resource}.run' OR` : ''}
       ${a}.action = 'messaging.${resource}.update' AND ${a}.changed_fields && '{${fields.join(',')}}')`;

/** Whether one of these columns is another. */
export const oneDiffers = (...columns: readonly string[]): string =>
  columns.map((column) => `NEW.${column} IS DISTINCT FROM OLD.${column}`).join(' OR ');

/** Whether the transaction has forgotten a maker of this table. */
export const forgotMaker = (table: string): string =>
  `current_setting('app.forgot_maker', true) = '${table}'`;

/**
 * Columns for makers, and for as long as processes of the release before run, which write none, triggers: what these
 * change has no maker until the transaction writes its audit row, which names who acts.
 */
export function noteMakers(runner: QueryRunner, made: MadeTable): Promise<void> {
  const { table, changed, key, unless, noted } = made;
  const others = unless === undefined ? '' : ` AND current_setting('${unless}', true) IS DISTINCT FROM 'on'`;
  return execute(runner, [
    `ALTER TABLE ${table} ADD COLUMN maker_type text, ADD COLUMN maker_id uuid, ADD COLUMN maker_since timestamptz(3)`,
    `ALTER TABLE ${table} ADD CONSTRAINT ${table}_maker_type_check CHECK (maker_type IN ${KNOWN}) NOT VALID`,
    `CREATE FUNCTION forget_maker_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       NEW.maker_type := NULL; NEW.maker_id := NULL; NEW.maker_since := NULL;
       PERFORM set_config('app.forgot_maker', '${table}', true);
       RETURN NEW;
     END $$`,
    `CREATE TRIGGER ${table}_maker BEFORE UPDATE ON ${table} FOR EACH ROW
       WHEN ((${changed}) AND (NEW.maker_type, NEW.maker_id, NEW.maker_since)
         IS NOT DISTINCT FROM (OLD.maker_type, OLD.maker_id, OLD.maker_since)${others})
       EXECUTE FUNCTION forget_maker_of_${table}()`,
    `CREATE FUNCTION note_maker_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       UPDATE ${table} SET (maker_type, maker_id, maker_since) = (${MAKER('NEW')}, NEW.occurred_at)
        WHERE organization_id = NEW.organization_id AND ${key} = NEW.resource_id::uuid AND maker_type IS NULL
          AND (${noted ?? 'true'});
       RETURN NULL;
     END $$`,
    `CREATE TRIGGER audit_entries_maker_of_${table} AFTER INSERT ON audit_entries FOR EACH ROW
       WHEN (${MAKES('NEW', made)}${others}) EXECUTE FUNCTION note_maker_of_${table}()`,
  ]);
}

export function forgetMakers(runner: QueryRunner, { table }: MadeTable): Promise<void> {
  return execute(runner, [
    `DROP TRIGGER audit_entries_maker_of_${table} ON audit_entries`,
    `DROP FUNCTION note_maker_of_${table}()`,
    `DROP TRIGGER ${table}_maker ON ${table}`,
    `DROP FUNCTION forget_maker_of_${table}()`,
    `ALTER TABLE ${table} DROP COLUMN maker_type, DROP COLUMN maker_id, DROP COLUMN maker_since`,
  ]);
}

/**
 * Finds the makers of what there is in the audit log, as far as it knows them. They have no `maker_since`: nothing stops
 * because one of them has left since. The log shows each organization its own rows alone, so organizations are gone
 * through one by one, each in a transaction of its own. Repeatable; for a migration without a transaction.
 */
export async function findMakers(runner: QueryRunner, made: MadeTable): Promise<void> {
  const { table, key } = made;
  const find = `
    UPDATE ${table} m SET (maker_type, maker_id) = (${MAKER('a')})
      FROM (SELECT DISTINCT ON (a.resource_id) a.resource_id, a.impersonator_id, a.actor_type, a.actor_id FROM audit_entries a
             WHERE a.organization_id = $1 AND ${MAKES('a', made)}
             ORDER BY a.resource_id, a.occurred_at DESC, a.id DESC) AS a
     WHERE m.organization_id = $1 AND m.${key}::text = a.resource_id AND m.maker_type IS NULL`;
  const organizations = await inTransaction(runner, 'app.worker', 'on', async () => {
    return (await runner.query(
      `SELECT DISTINCT organization_id FROM ${table} WHERE maker_type IS NULL ORDER BY 1`,
    )) as { organization_id: string }[];
  });
  for (const { organization_id: id } of organizations)
    await inTransaction(runner, 'app.organization_id', id, () => runner.query(find, [id]));
  await runner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${table}_maker_type_check`);
}

/** Work that sees what the setting shows it. */
async function inTransaction<T>(
  runner: QueryRunner,
  setting: string,
  value: string,
  work: () => Promise<T>,
): Promise<T> {
  await runner.startTransaction();
  try {
    await runner.query('SELECT set_config($1, $2, true)', [setting, value]);
    const result = await work();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}
