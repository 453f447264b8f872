import { newId } from '@customer-platform/database';
import {
  eventually,
  expectStatus,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type TestDatabase,
  type TestProcess,
} from '@customer-platform/testing';
import type { ImportDto } from '../src/imports/import.dto.js';
import { aFolder, ended, IMPORTS, send } from '../src/imports/import.fixture.js';
import { CORE_MIGRATIONS } from '../src/migrations/core.migrations.js';

const ROWS = 6_000;
/** Each of these rows has an error. */
const BAD_EVERY = 100;
const KILLS = 4;

/** Every thousandth row names the one before it again. */
function rowOf(at: number): string {
  if (at % BAD_EVERY === 7) return `c-${at},nothing`;
  const named = at % 1_000 === 999 ? at - 1 : at;
  return `c-${named},c${named}@example.com`;
}

describe('a process that is killed while it imports', () => {
  let registry: TestRegistry;
  let database: TestDatabase;
  let folder: Awaited<ReturnType<typeof aFolder>>;
  let core: TestProcess;
  beforeAll(async () => {
    registry = await TestRegistry.start();
    database = await testDatabase('core', CORE_MIGRATIONS);
    folder = await aFolder();
    const env = { IMPORT_DIRECTORY: folder.path };
    core = await startTestProcess({ module: 'core', registry, database, env });
  }, 240_000);
  afterAll(async () => {
    await core.stop();
    await registry.close();
    await database.drop();
    await folder.remove();
  });

  it('goes on where it was, without a duplicate and without a gap', async () => {
    const organizationId = newId();
    const caller = core.as(organizationId, ['core.imports.create', 'core.imports.read']);
    const rows = Array.from({ length: ROWS }, (_, at) => rowOf(at));
    const opened = await send(caller, `id,mail\n${rows.join('\n')}\n`, {
      mapping: { id: 'external_id', mail: 'email' },
    });
    expectStatus(opened, 202);
    const done = (): Promise<number> =>
      database
        .query<{ position: string }>('SELECT position FROM imports WHERE id = $1', [opened.body.id])
        .then(([row]) => Number(row?.position));
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const before = await done();
      await eventually(async () => expect(await done()).toBeGreaterThan(before), {
        within: 60_000,
        every: 1,
      });
      await core.crash();
      await core.restart();
    }
    const { rows: counts, state } = await ended(caller, opened.body, 120_000);
    const bad = rows.filter((row) => row.endsWith('nothing')).length;
    const again = ROWS / 1_000;
    const created = ROWS - bad - again;
    expect({ state, counts }).toEqual({
      state: 'completed',
      counts: { total: ROWS, created, updated: 0, unchanged: again, skipped: 0, failed: bad },
    });
    const [stored] = await database.query(
      `SELECT count(*)::int AS contacts, count(DISTINCT external_id)::int AS distinct FROM contacts
        WHERE organization_id = $1`,
      [organizationId],
    );
    expect(stored).toEqual({ contacts: created, distinct: created });
    const lines: number[] = [];
    for (let cursor = ''; ;) {
      const { body } = await caller.get<ImportDto>(`${IMPORTS}/${opened.body.id}?limit=200${cursor}`);
      lines.push(...body.errors.data.map(({ line }) => line));
      if (body.errors.page.next_cursor === null) break;
      cursor = `&cursor=${body.errors.page.next_cursor}`;
    }
    expect(lines).toEqual(rows.flatMap((row, at) => (row.endsWith('nothing') ? [at + 2] : [])));
  }, 300_000);
});
