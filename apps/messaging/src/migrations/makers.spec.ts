import { newId, runMigrations } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { Client } from 'pg';
import { migrations } from './index.js';

const TEMPLATE = `
  INSERT INTO templates (organization_id, id, name, channel, default_locale, locales, variables, strict, version, created_at, updated_at)
  VALUES ($1, $2, 'one', 'email', 'es', '{}', '{}', true, 1, now(), now())`;
const AUDIT = `
  INSERT INTO audit_entries (organization_id, id, occurred_at, actor_type, actor_id, action, resource_type, resource_id,
    outcome, changed_fields, correlation_id, impersonator_id)
  VALUES ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, 'success', $8, gen_random_uuid(), $9)`;

interface Maker {
  type: 'user' | 'api_key' | 'oauth_client' | 'system';
  id: string;
  /** Who acts as the user. */
  by?: string;
}

interface Row {
  organization: string;
  id: string;
}

interface Change {
  readonly verb: 'create' | 'update';
  readonly fields: readonly string[];
  readonly set?: string;
}

/** Each table, by how the release before writes a row, something that carries, and something that does not. */
const TABLES = [
  {
    table: 'event_routing',
    resource: 'routing',
    key: 'id',
    insert: `INSERT INTO event_routing (organization_id, id, name, enabled, event_type, channel, template_id, recipient,
        category, delay_seconds, created_at, updated_at)
      VALUES ($1, $2, 'one', true, 'core.segment.entered', 'email', $2, '{}', 'transactional', 0, now(), now())`,
    made: { verb: 'create', fields: [] },
    carries: { verb: 'update', fields: ['recipient'], set: `recipient = '{"from": "contact"}'` },
    carriesNot: [{ verb: 'update', fields: ['name'], set: `name = 'two'` }],
  },
  {
    table: 'channel_settings',
    resource: 'channels',
    key: 'organization_id',
    insert: `INSERT INTO channel_settings (organization_id, document, version, updated_at)
      SELECT $1, '{"channels": {"email": {"provider": "ses", "region": "eu-west-1"}}}', 1, now() WHERE $2::uuid IS NOT NULL`,
    made: { verb: 'update', fields: ['channels'] },
    carries: {
      verb: 'update',
      fields: ['channels'],
      set: `version = version + 1, document = jsonb_set(document, '{channels,email,region}', '"us-east-1"')`,
    },
    // The release before names `channels` whatever was changed.
    carriesNot: [
      {
        verb: 'update',
        fields: ['channels', 'caps'],
        set: `version = version + 1, document = document || '{"caps": []}'`,
      },
      {
        verb: 'update',
        fields: ['channels'],
        set: `version = version + 1, document = jsonb_set(document, '{channels,email}',
          document #> '{channels,email}' || '{"max_per_second": 5, "enabled": false, "from": "a@shop.example", "reply_to": null}')`,
      },
      {
        verb: 'update',
        fields: ['channels'],
        set: `version = version + 1, document = jsonb_set(document, '{channels,in_app}', '{"provider": "inbox"}')`,
      },
    ],
  },
  {
    table: 'campaigns',
    resource: 'campaigns',
    key: 'id',
    insert: `INSERT INTO campaigns (organization_id, id, name, channel, template_id, audience_type, audience_id, category,
        data, repeatable, paused, state, created_at, updated_at)
      VALUES ($1, $2, 'one', 'email', $2, 'list', $2, 'marketing', '{}', false, false, 'draft', now(), now())`,
    made: { verb: 'create', fields: [] },
    carries: { verb: 'update', fields: ['audience'], set: `audience_type = 'segment'` },
    carriesNot: [{ verb: 'update', fields: ['name'], set: `name = 'two'` }],
  },
] as const;

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

const aUser = (): Maker => ({ type: 'user', id: newId() });

describe.each(TABLES)('the makers in $table', ({ table, resource, key, insert, ...changes }) => {
  const where = `organization_id = $1 AND ${key === 'id' ? 'id = $2' : '$2::uuid IS NOT NULL'}`;

  /** As the service of the release before writes a change: the row, which names no maker, and then its audit row. */
  async function write(
    { organization, id }: Row,
    maker: Maker,
    { verb, fields, set }: Change,
  ): Promise<void> {
    await service.query('BEGIN');
    await service.query(`SELECT set_config('app.organization_id', $1, true)`, [organization]);
    if (set === undefined) {
      await service.query(TEMPLATE, [organization, id]);
      await service.query(insert, [organization, id]);
    } else await service.query(`UPDATE ${table} SET ${set} WHERE ${where}`, [organization, id]);
    const action = `messaging.${resource}.${verb}`;
    const named = key === 'id' ? id : organization;
    const { type, id: actor, by = null } = maker;
    await service.query(AUDIT, [organization, newId(), type, actor, action, resource, named, fields, by]);
    await service.query('COMMIT');
  }

  async function aRow(maker: Maker, organization = newId()): Promise<Row> {
    const row = { organization, id: newId() };
    await write(row, maker, changes.made);
    return row;
  }

  async function makerOf({ organization, id }: Row) {
    const [row] = await database.query<{ type: string; id: string; since: Date | null }>(
      `SELECT maker_type AS type, maker_id AS id, maker_since AS since FROM ${table} WHERE ${where}`,
      [organization, id],
    );
    return row;
  }

  const noted = ({ type, id }: Maker) => ({ type, id, since: expect.any(Date) as Date });

  it('are noted for the release before: who makes a row, and who changes what it carries', async () => {
    const [first, next] = [aUser(), aUser()];
    const row = await aRow(first);
    expect(await makerOf(row)).toEqual(noted(first));
    for (const change of changes.carriesNot) {
      await write(row, next, change);
      expect(await makerOf(row)).toEqual(noted(first));
    }
    await write(row, next, changes.carries);
    expect(await makerOf(row)).toEqual(noted(next));
  });

  it('are not whoever changes nothing that an unowned row carries', async () => {
    const row = await aRow({ type: 'system', id: 'messaging' });
    for (const change of changes.carriesNot) {
      await write(row, aUser(), change);
      expect(await makerOf(row)).toEqual({ type: null, id: null, since: null });
    }
  });

  it('are who acts as another; and nobody where nobody known acts', async () => {
    const by = newId();
    expect(await makerOf(await aRow({ ...aUser(), by }))).toEqual(noted({ type: 'user', id: by }));
    const row = await aRow({ type: 'system', id: 'messaging' });
    expect(await makerOf(row)).toEqual({ type: null, id: null, since: null });
  });

  it('are found for what there was, as of before, by the last change of what it carries', async () => {
    const [first, next, other] = [aUser(), aUser(), aUser()];
    const row = await aRow(first);
    await write(row, next, changes.carries);
    const [beside] = changes.carriesNot;
    // Nothing tells so of channels: whoever put the settings last is found.
    if (table !== 'channel_settings') await write(row, other, beside);
    const unknown = await aRow({ type: 'system', id: 'messaging' });
    await database.query(`UPDATE ${table} SET maker_type = NULL, maker_id = NULL, maker_since = NULL`);
    await database.query(`DELETE FROM migrations WHERE name LIKE 'FindMakers%'`);
    await runMigrations({ module: 'messaging', migrations, url: database.ownerUrl });
    expect(await makerOf(row)).toEqual({ ...next, since: null });
    expect(await makerOf(unknown)).toEqual({ type: null, id: null, since: null });
  });
});
