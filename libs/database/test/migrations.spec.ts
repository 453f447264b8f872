import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { eventually, testDatabase, type TestDatabase } from '@customer-platform/testing';
import { createIndexConcurrently, newId, runMigrations, type MigrationClass } from '../src/index.js';
import { WIDGET_MIGRATIONS } from './widgets.fixture.js';

class AddColor1700000002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE widgets ADD COLUMN color text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE widgets DROP COLUMN color');
  }
}

class IndexWeights1700000003000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(runner, 'widgets_by_weight', 'ON widgets (organization_id, weight)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX widgets_by_weight');
  }
}

const INSERT = `INSERT INTO widgets (organization_id, id, name, created_at, updated_at) VALUES ($1, $2, 'one', now(), now())`;

describe('a migration of a table that is in use', () => {
  let database: TestDatabase;
  let busy: Client;

  beforeEach(async () => {
    database = await testDatabase('widgets', WIDGET_MIGRATIONS);
    busy = new Client({ connectionString: database.adminUrl });
    await busy.connect();
    await busy.query('BEGIN');
    await busy.query(INSERT, [newId(), newId()]);
  });

  afterEach(async () => {
    await busy.end();
    await database.drop();
  });

  const migrate = (added: MigrationClass, tries: number, pause: () => Promise<void>): Promise<string[]> =>
    runMigrations({
      module: 'widgets',
      migrations: [...WIDGET_MIGRATIONS, added],
      url: database.ownerUrl,
      lockPatience: { lockTimeoutMs: 50, tries, pause },
    });

  it('gives way to all who wait behind it, and is run again', async () => {
    let pauses = 0;
    const done = await migrate(AddColor1700000002000, 5, async () => {
      pauses += 1;
      // With the table still in use by the first, others write to it.
      await database.query(INSERT, [newId(), newId()]);
      if (pauses === 2) await busy.query('COMMIT');
    });
    expect(done).toEqual([AddColor1700000002000.name]);
    expect(pauses).toBe(2);
    expect(await database.query('SELECT color FROM widgets')).toHaveLength(3);
  });

  it('gives up in the end, and says which it was and what to look for', async () => {
    const run = migrate(AddColor1700000002000, 3, () => Promise.resolve());
    await expect(run).rejects.toThrow(/AddColor1700000002000 found its tables locked 3 times.*xact_start/);
    await busy.query('COMMIT');
    expect(await migrate(AddColor1700000002000, 1, () => Promise.resolve())).toHaveLength(1);
  });

  it('makes an index while others write, beside a second that waits for its turn', async () => {
    const never = (): Promise<void> => Promise.reject(new Error('An index waits, it does not give up'));
    const both = Promise.all([
      migrate(IndexWeights1700000003000, 1, never),
      migrate(IndexWeights1700000003000, 1, never),
    ]);
    await waitingFor('CREATE INDEX CONCURRENTLY');
    await database.query(INSERT, [newId(), newId()]);
    await busy.query('COMMIT');
    expect((await both).flat()).toEqual([IndexWeights1700000003000.name]);
    expect(await isValid()).toBe(true);
  });

  it('makes an index anew that was left unfinished', async () => {
    await busy.query('COMMIT');
    await database.query('CREATE INDEX widgets_by_weight ON widgets (weight)');
    await database.query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'widgets_by_weight'::regclass`,
    );
    await migrate(IndexWeights1700000003000, 1, () => Promise.resolve());
    expect(await isValid()).toBe(true);
    const [row] = await database.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = 'widgets_by_weight'`,
    );
    expect(row?.indexdef).toContain('(organization_id, weight)');
  });

  async function waitingFor(statement: string): Promise<void> {
    await eventually(async () => {
      const waiting = await database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE $1`,
        [`${statement}%`],
      );
      expect(waiting).toHaveLength(1);
    });
  }

  async function isValid(): Promise<boolean | undefined> {
    const [row] = await database.query<{ indisvalid: boolean }>(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = 'widgets_by_weight'::regclass`,
    );
    return row?.indisvalid;
  }
});
