import { newId, runMigrations } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { Client } from 'pg';
import { migrations } from './index.js';

const INSERT = `
  INSERT INTO webhook_endpoints (organization_id, id, name, url, events, enabled, signing, secrets, created_at, updated_at)
  VALUES ($1, $2, 'one', 'https://one.example', '{core.contact.created}', true, 'v1', '[]', now(), now())`;
const AUDIT = `
  INSERT INTO audit_entries (organization_id, id, occurred_at, actor_type, actor_id, action, resource_type, resource_id,
    outcome, changed_fields, correlation_id, impersonator_id)
  VALUES ($1, $2, clock_timestamp(), $3, $4, $5, 'webhooks', $6, 'success', $7, gen_random_uuid(), $8)`;

interface Maker {
  type: 'user' | 'api_key' | 'oauth_client' | 'system';
  id: string;
  /** Who acts as the user. */
  by?: string;
}

describe('the makers of webhook endpoints', () => {
  let database: TestDatabase;
  let service: Client;
  beforeAll(async () => {
    database = await testDatabase('messaging', migrations);
    service = new Client({ connectionString: database.url });
    await service.connect();
  });
  afterAll(async () => {
    await service.end();
    await database.drop();
  });

  /** As the service of the release before writes a change: the row, which names no maker, and then its audit row. */
  async function change(
    organization: string,
    endpoint: string,
    maker: Maker,
    [verb, fields]: ['create' | 'update', string[]],
    statement: string,
    parameters: unknown[] = [organization, endpoint],
  ): Promise<void> {
    await service.query('BEGIN');
    await service.query(`SELECT set_config('app.organization_id', $1, true)`, [organization]);
    await service.query(statement, parameters);
    const action = `messaging.webhooks.${verb}`;
    const { type, id, by = null } = maker;
    await service.query(AUDIT, [organization, newId(), type, id, action, endpoint, fields, by]);
    await service.query('COMMIT');
  }

  async function anEndpoint(maker: Maker, organization = newId()) {
    const id = newId();
    await change(organization, id, maker, ['create', []], INSERT);
    return { organization, id };
  }

  async function makerOf(id: string): Promise<Maker | undefined> {
    const [row] = await database.query<Maker>(
      'SELECT maker_type AS type, maker_id AS id FROM webhook_endpoints WHERE id = $1',
      [id],
    );
    return row;
  }

  const update = (set: string): string =>
    `UPDATE webhook_endpoints SET ${set} WHERE organization_id = $1 AND id = $2`;
  const aKey = (): Maker => ({ type: 'api_key', id: newId() });
  const aUser = (): Maker => ({ type: 'user', id: newId() });

  it('are noted for the release before: who creates one, and who changes its URL or events', async () => {
    const [key, user, next] = [aKey(), aUser(), aUser()];
    const { organization, id } = await anEndpoint(key);
    expect(await makerOf(id)).toEqual(key);
    await change(organization, id, user, ['update', ['name']], update(`name = 'two'`));
    expect(await makerOf(id)).toEqual(key);
    await change(organization, id, user, ['update', ['url']], update(`url = 'https://two.example'`));
    expect(await makerOf(id)).toEqual(user);
    await change(organization, id, next, ['update', ['events']], update(`events = '{core.contact.merged}'`));
    expect(await makerOf(id)).toEqual(next);
    await change(
      organization,
      id,
      next,
      ['update', ['events']],
      update(`events = '{core.contact.merged,core.contact.created}'`),
    );
    expect(await makerOf(id)).toEqual(next);
  });

  it('are who acts as another, whatever the row says, and OAuth clients', async () => {
    const [user, by] = [aUser(), newId()];
    const { organization, id } = await anEndpoint({ ...user, by });
    expect(await makerOf(id)).toEqual({ type: 'user', id: by });
    const written = update(`url = 'https://two.example', maker_type = 'user', maker_id = '${user.id}'`);
    await change(organization, id, { ...user, by }, ['update', ['url']], written);
    expect(await makerOf(id)).toEqual({ type: 'user', id: by });
    const client = { type: 'oauth_client', id: newId() } as const;
    await change(organization, id, client, ['update', ['url']], update(`url = 'https://three.example'`));
    await change(organization, id, client, ['update', ['url']], update(`url = 'https://four.example'`));
    expect(await makerOf(id)).toEqual(client);
  });

  it('are nobody where nobody known acts, which is told nothing', async () => {
    const { id } = await anEndpoint({ type: 'system', id: 'messaging' });
    expect(await makerOf(id)).toEqual({ type: null, id: null });
  });

  it('are found for the endpoints there were, one organization after the other, also when it broke off', async () => {
    const [one, other] = [newId(), newId()].sort() as [string, string];
    const [key, user] = [aKey(), aUser()];
    const first = await anEndpoint(key, one);
    const second = await anEndpoint(user, other);
    await database.query('UPDATE webhook_endpoints SET maker_type = NULL, maker_id = NULL');
    await database.query(`DELETE FROM migrations WHERE name LIKE 'FindWebhookMakers%'`);
    await service.query('BEGIN');
    await service.query(`SELECT set_config('app.organization_id', $1, true)`, [other]);
    await service.query('SELECT FROM webhook_endpoints FOR SHARE');
    let pauses = 0;
    await runMigrations({
      module: 'messaging',
      migrations,
      url: database.ownerUrl,
      lockPatience: {
        lockTimeoutMs: 50,
        pause: async () => {
          pauses += 1;
          expect([await makerOf(first.id), await makerOf(second.id)]).toEqual([
            key,
            { type: null, id: null },
          ]);
          await service.query('COMMIT');
        },
      },
    });
    expect(pauses).toBe(1);
    expect([await makerOf(first.id), await makerOf(second.id)]).toEqual([key, user]);
  });
});
