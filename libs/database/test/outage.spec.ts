import { Problem } from '@customer-platform/problem-json';
import { anOrganization, TcpLink, eventually } from '@customer-platform/testing';
import { Client } from 'pg';
import { DatabaseUnavailable, type Transaction } from '../src/index.js';
import type { OpenTransaction } from '../src/transaction.js';
import { Widget } from './widget.entity.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

describe('an outage of Postgres', () => {
  const wire = new TcpLink();
  let world: WidgetWorld;
  beforeAll(async () => {
    await wire.open();
    world = await aWidgetWorld(4, (url) => wire.through(url));
  });
  afterAll(async () => {
    await world.close();
    await wire.cut();
  });

  it.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['with the next statement', (tx) => tx.query('SELECT 1')],
    ['with its commit', () => Promise.resolve()],
    ['with an entity', (tx) => tx.manager.count(Widget)],
    ['with a savepoint', (tx) => tx.savepoint(() => Promise.resolve())],
    ['within a savepoint', (tx) => tx.savepoint(() => tx.query('SELECT 1'))],
  ])('fails as unavailable %s what loses its connection while it thinks', async (_, next) => {
    const where = { organizationId: anOrganization().id };
    const admin = new Client({ connectionString: world.test.adminUrl });
    await admin.connect();
    const failed = world.database.inOrganization(where, async (tx) => {
      const [own] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await admin.query('SELECT pg_terminate_backend($1)', [own?.pid]);
      await eventually(() => {
        expect(() => {
          (tx as OpenTransaction).demandConnected();
        }).toThrow(DatabaseUnavailable);
      });
      await next(tx);
    });
    await expect(failed).rejects.toBeInstanceOf(DatabaseUnavailable);
    await admin.end();
    await world.database.ping();
  });

  it('is not what a transaction that was kept for too long meets', async () => {
    const where = { organizationId: anOrganization().id };
    const kept = await world.database.inOrganization(where, (tx) => Promise.resolve(tx));
    await expect(kept.query('SELECT 1')).rejects.toThrow(/over/);
  });

  it('fails what is under way and what comes as unavailable, and ends by itself', async () => {
    const where = { organizationId: anOrganization().id };
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const underWay = world.database.inOrganization(where, async (tx) => {
      await tx.query('SELECT 1');
      open();
      await tx.query('SELECT pg_sleep(20)');
    });
    const idle = world.database.inOrganization(where, (tx) => tx.query('SELECT 1'));
    const failed = expect(underWay).rejects.toBeInstanceOf(DatabaseUnavailable);
    await Promise.all([opened, idle]);

    await wire.cut();
    await failed;
    await expect(world.database.ping()).rejects.toBeInstanceOf(DatabaseUnavailable);
    await expect(world.database.demandMigrated(world.source.migrations)).rejects.toMatchObject({
      code: 'dependency_unavailable',
      status: 503,
    });

    await wire.open();
    await eventually(() => world.database.ping());
    const rows = await Promise.all(
      Array.from({ length: 12 }, () =>
        world.database.inOrganization(where, (tx) => tx.query('SELECT 1 AS one')),
      ),
    );
    expect(rows).toHaveLength(12);
  });

  it('does not take the failure of another module for its own', async () => {
    const elsewhere = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const thrown = new Problem('dependency_unavailable', {
      detail: 'The module core does not answer.',
      cause: elsewhere,
    });
    const work = world.database.inOrganization({ organizationId: anOrganization().id }, () =>
      Promise.reject(thrown),
    );
    await expect(work).rejects.toBe(thrown);
  });
});
