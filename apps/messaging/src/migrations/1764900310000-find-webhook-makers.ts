import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whoever created an endpoint or last changed its events or URL, as the audit log has it. */
const FIND = `
  UPDATE webhook_endpoints e SET maker_type = made.actor_type, maker_id = made.actor_id::uuid
    FROM (SELECT DISTINCT ON (resource_id) resource_id, actor_type, actor_id FROM audit_entries
           WHERE organization_id = $1 AND resource_type = 'webhooks' AND outcome = 'success'
             AND actor_type IN ('api_key', 'user')
             AND (action = 'messaging.webhooks.create'
                  OR action = 'messaging.webhooks.update' AND changed_fields && '{events,url}')
           ORDER BY resource_id, occurred_at DESC, id DESC) AS made
   WHERE e.organization_id = $1 AND e.id::text = made.resource_id AND e.maker_type IS NULL`;

/**
 * Finds the makers of the endpoints there are. The audit log shows each organization its own rows alone, so they are
 * gone through one by one, each in a transaction of its own: consumers wait for no other's. Repeatable.
 */
export class FindWebhookMakers1764900310000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = await inTransaction(runner, 'app.worker', 'on', async () => {
      return (await runner.query(
        'SELECT DISTINCT organization_id FROM webhook_endpoints WHERE maker_type IS NULL ORDER BY 1',
      )) as { organization_id: string }[];
    });
    for (const { organization_id: id } of organizations) {
      await inTransaction(runner, 'app.organization_id', id, () => runner.query(FIND, [id]));
    }
    await runner.query(
      'ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_maker_type_check',
    );
  }

  /** What was found goes with its columns. */
  async down(): Promise<void> {}
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
