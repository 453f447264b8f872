import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@customer-platform/database';
import {
  eventually,
  startTestApp,
  testDatabase,
  TestRegistry,
  type Caller,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { coreApp } from '../core.app.js';
import { accepted, aTrack } from '../core.fixture.js';
import { CORE_MIGRATIONS } from '../migrations/core.migrations.js';

const PERMISSIONS = ['core.events.write', 'core.events.read', 'core.usage.read'] as const;

interface Counts {
  accepted: number;
  stored: number;
  duplicates: number;
  dead_lettered: number;
  pending: number;
}

async function usage(caller: Caller): Promise<Counts> {
  const { body } = await caller.get<{ totals: { events: Counts } }>('/v1/core/usage');
  const { events } = body.totals;
  const { stored, duplicates, dead_lettered, pending } = events;
  expect(events.accepted).toBe(stored + duplicates + dead_lettered + pending);
  return events;
}

/** All tables with the columns that hold what was written; partitions lie in theirs. */
const TABLES = `
  SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns,
         max(a.attname) FILTER (WHERE a.attidentity <> '') AS identity
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     AND c.relname <> 'migrations'
   GROUP BY c.relname ORDER BY c.relname`;

interface Table {
  readonly name: string;
  readonly columns: string;
  readonly identity: string | null;
}

interface Copy extends Table {
  /** All rows as one JSON text, as the database writes and reads it. */
  readonly rows: string;
}

/** What `pg_dump` reads: every table as of one snapshot, while the database is in use. */
async function backUp(database: TestDatabase): Promise<Copy[]> {
  const tables = await database.query<Table>(TABLES);
  const copies: Copy[] = [];
  await database.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  for (const table of tables) {
    const [row] = await database.query<{ rows: string | null }>(
      `SELECT json_agg(one)::text AS rows FROM (SELECT ${table.columns} FROM ${table.name}) AS one`,
    );
    copies.push({ ...table, rows: row?.rows ?? '[]' });
  }
  await database.query('COMMIT');
  return copies;
}

/** What `pg_restore` does with it: all rows of that moment in a new database, and nothing of later. */
async function restored(copies: readonly Copy[]): Promise<TestDatabase> {
  const database = await testDatabase('core', CORE_MIGRATIONS);
  await database.query('SET session_replication_role = replica');
  for (const { name, columns, identity, rows } of copies) {
    await database.query(
      `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT ${columns} FROM json_populate_recordset(NULL::${name}, $1::json) ON CONFLICT DO NOTHING`,
      [rows],
    );
    if (identity === null) continue;
    const highest = `(SELECT coalesce(max(${identity}), 1) FROM ${name})`;
    await database.query(`SELECT setval(pg_get_serial_sequence('${name}', '${identity}'), ${highest})`);
  }
  return database;
}

describe('a database that is restored to an earlier moment', () => {
  const organizationId = newId();
  let registry: TestRegistry;
  let database: TestDatabase;
  let app: TestApp;

  const start = async (): Promise<Caller> => {
    app = await startTestApp({ ...coreApp(), database, registry });
    return app.as(organizationId, PERMISSIONS);
  };

  beforeAll(async () => {
    registry = await TestRegistry.start();
    database = await testDatabase('core', CORE_MIGRATIONS);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
    await registry.close();
  });

  it('gets from the queue what it has not seen: every 202 is stored once and counted once', async () => {
    const before = await start();
    let sent = 0;
    const send = async (caller: Caller, events: number): Promise<void> => {
      await Promise.all(Array.from({ length: events }, () => accepted(caller, aTrack())));
      sent += events;
    };
    const allStored = (caller: Caller): Promise<void> =>
      eventually(
        async () => {
          expect(await usage(caller)).toMatchObject({ accepted: sent, stored: sent, pending: 0 });
        },
        { within: 60_000 },
      );
    await send(before, 40);
    await allStored(before);
    let loaded = true;
    const load = (async () => {
      for (; loaded; await pause(5)) await send(before, 10);
    })();
    const copies = await backUp(database);
    loaded = false;
    await load;
    await send(before, 60);
    await allStored(before);
    await app.close();

    const lost = database;
    database = await restored(copies);
    await lost.drop();
    const [row] = await database.query<{ count: string }>(
      'SELECT count(*) FROM events WHERE organization_id = $1',
      [organizationId],
    );
    expect(Number(row?.count)).toBeLessThan(sent);

    const after = await start();
    await allStored(after);
    expect(await usage(after)).toEqual(
      expect.objectContaining({ accepted: sent, stored: sent, duplicates: 0, dead_lettered: 0, pending: 0 }),
    );
    const ids = await database.query<{ count: string }>(
      'SELECT count(*) FROM events WHERE organization_id = $1',
      [organizationId],
    );
    expect(Number(ids[0]?.count)).toBe(sent);
  }, 240_000);
});
