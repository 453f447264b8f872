import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Problem } from '@customer-platform/problem-json';
import { anOrganization, eventually, requiredVariable } from '@customer-platform/testing';
import { DatabaseUnavailable } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

/** Stands between the pool and Postgres, and can be away as Postgres is after a kill -9. */
class Wire {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  port = 0;

  async open(): Promise<void> {
    const target = new URL(requiredVariable('TEST_POSTGRES_URL'));
    this.server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => [near, far].forEach((end) => end.destroy()));
      }
      near.pipe(far).pipe(near);
    });
    const { server } = this;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.resetAndDestroy();
    this.sockets.clear();
    await closed;
  }
}

describe('an outage of Postgres', () => {
  const wire = new Wire();
  let world: WidgetWorld;
  beforeAll(async () => {
    await wire.open();
    world = await aWidgetWorld(4, (url) => {
      const through = new URL(url);
      through.host = `127.0.0.1:${wire.port}`;
      return through.toString();
    });
  });
  afterAll(async () => {
    await world.close();
    await wire.cut();
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
