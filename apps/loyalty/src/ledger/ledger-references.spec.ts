import { randomUUID } from 'node:crypto';
import { Client, type DatabaseError } from 'pg';
import { type TestDatabase, eventually, testDatabase } from '@customer-platform/testing';
import { migrations } from '../migrations/index.js';

let database: TestDatabase;
let organizationId: string;
let client: Client;
beforeAll(async () => {
  database = await testDatabase('loyalty', migrations);
});
beforeEach(async () => {
  organizationId = randomUUID();
  client = await connect();
});
afterEach(() => client.end());
afterAll(() => database.drop());

/** As the service, bound to the organization. */
async function connect(): Promise<Client> {
  const connected = new Client({ connectionString: database.url });
  await connected.connect();
  await connected.query(`SELECT set_config('app.organization_id', $1, false)`, [organizationId]);
  return connected;
}

async function aRule(): Promise<string> {
  const id = randomUUID();
  await client.query(
    `INSERT INTO rules (organization_id, id, name, event, conditions, formula, valid_from, enabled, version, created_at,
       updated_at)
     VALUES ($1, $2, gen_random_uuid()::text, 'x', '[]', '{}', now(), true, 1, now(), now())`,
    [organizationId, id],
  );
  return id;
}

/** Of a rule; or the reversal of another. */
async function transaction(of: { rule: string } | { reverses: string }, by = client): Promise<string> {
  const id = randomUUID();
  const [rule, reverses] = 'rule' in of ? [of.rule, null] : [null, of.reverses];
  await by.query(
    `INSERT INTO transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version, rule_event_hash,
       reverses_id, actor_type, actor_id, created_at)
     VALUES ($1, $2, $3, 1, $2, $4, 1, $6, $5, 'system', 'loyalty', now())`,
    [organizationId, id, reverses === null ? 'earn' : 'reverse', rule, reverses, rule && Buffer.from(id)],
  );
  return id;
}

const line = (transactionId: string): Promise<unknown> =>
  client.query('INSERT INTO lines VALUES ($1, $2, $2, 1, $2)', [organizationId, transactionId]);

const link = (transactionId: string): Promise<unknown> =>
  client.query('INSERT INTO links VALUES ($1, $2, $2, NULL, $2, now())', [organizationId, transactionId]);

const purge = (ruleId: string): Promise<unknown> =>
  client.query('DELETE FROM rules WHERE organization_id = $1 AND id = $2', [organizationId, ruleId]);

const violation = (constraint: string): Partial<DatabaseError> => ({ code: '23503', constraint });

describe('references of the ledger', () => {
  it('are those of rows that are there', async () => {
    const id = await transaction({ rule: await aRule() });
    await line(id);
    await link(id);
    await transaction({ reverses: id });
  });

  it('refuse lines and links without their transaction', async () => {
    await expect(line(randomUUID())).rejects.toMatchObject(violation('lines_transaction'));
    await expect(link(randomUUID())).rejects.toMatchObject(violation('links_transaction'));
    const id = await transaction({ rule: await aRule() });
    await link(id);
    const move = client.query('UPDATE links SET transaction_id = $2 WHERE organization_id = $1', [
      organizationId,
      randomUUID(),
    ]);
    await expect(move).rejects.toMatchObject(violation('links_transaction'));
  });

  it("refuse another organization's transactions and rules", async () => {
    const rule = await aRule();
    const id = await transaction({ rule });
    organizationId = randomUUID();
    await client.query(`SELECT set_config('app.organization_id', $1, false)`, [organizationId]);
    await expect(line(id)).rejects.toMatchObject(violation('lines_transaction'));
    await expect(transaction({ rule })).rejects.toMatchObject(violation('transactions_rule'));
    await expect(transaction({ reverses: id })).rejects.toMatchObject(violation('transactions_reverses'));
  });

  it('refuse a transaction of no rule, and the reversal of none', async () => {
    await expect(transaction({ rule: randomUUID() })).rejects.toMatchObject(violation('transactions_rule'));
    const reversal = transaction({ reverses: randomUUID() });
    await expect(reversal).rejects.toMatchObject(violation('transactions_reverses'));
  });

  it('keep a rule that gave points, also under a new id', async () => {
    const rule = await aRule();
    await transaction({ rule });
    await expect(purge(rule)).rejects.toMatchObject(violation('transactions_rule'));
    const renamed = client.query('UPDATE rules SET id = $2 WHERE organization_id = $1', [
      organizationId,
      randomUUID(),
    ]);
    await expect(renamed).rejects.toMatchObject({ code: '23503' });
    await purge(await aRule());
  });

  it('are checked in a session that looks in no schema, as a restore is', async () => {
    const rule = await aRule();
    const id = await transaction({ rule });
    const unused = await aRule();
    await client.query(`SELECT set_config('search_path', '', false)`);
    const insert = (table: string, values: string, of: string): Promise<unknown> =>
      client.query(`INSERT INTO public.${table} VALUES (${values})`, [organizationId, of]);
    const LINE = '$1, $2, $2, 1, $2';
    const LINK = '$1, $2, $2, NULL, $2, now()';
    await insert('lines', LINE, id);
    await insert('links', LINK, id);
    await client.query(
      `INSERT INTO public.transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version,
         rule_event_hash, actor_type, actor_id, created_at)
       VALUES ($1, $2, 'earn', 1, $2, $3, 1, '\\x01', 'system', 'loyalty', now())`,
      [organizationId, randomUUID(), rule],
    );
    const remove = 'DELETE FROM public.rules WHERE organization_id = $1 AND id = $2';
    await client.query(remove, [organizationId, unused]);
    await expect(client.query(remove, [organizationId, rule])).rejects.toMatchObject({ code: '23503' });
    await expect(insert('lines', LINE, randomUUID())).rejects.toMatchObject(violation('lines_transaction'));
  });

  it('have a purge wait for points that are being given, and then refuse it', async () => {
    const rule = await aRule();
    const giving = await connect();
    await giving.query('BEGIN');
    await transaction({ rule }, giving);
    const purged = purge(rule).then(
      () => undefined,
      (error: unknown) => error,
    );
    await waits();
    await giving.query('COMMIT');
    await giving.end();
    expect(await purged).toMatchObject(violation('transactions_rule'));
  });

  it('have points wait for a purge that is under way, and then be refused', async () => {
    const rule = await aRule();
    const giving = await connect();
    await client.query('BEGIN');
    await purge(rule);
    const given = transaction({ rule }, giving).then(
      () => undefined,
      (error: unknown) => error,
    );
    await waits();
    await client.query('COMMIT');
    expect(await given).toMatchObject(violation('transactions_rule'));
    await giving.end();
  });
});

/** Until a statement in this database waits for a lock. */
async function waits(): Promise<void> {
  await eventually(async () => {
    const waiting = await database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(waiting).toHaveLength(1);
  });
}
