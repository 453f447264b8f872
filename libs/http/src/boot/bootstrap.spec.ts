import { EventEmitter } from 'node:events';
import { gate } from '../../test/things.controller.js';
import { call, testEnv } from '../../test/things.fixture.js';
import { ThingsModule } from '../../test/things.module.js';
import { bootstrap } from '../index.js';
import type { BootOptions } from './create-app.js';
import type { ProcessHost } from './bootstrap.js';

class FakeProcess extends EventEmitter implements ProcessHost {
  said = '';
  readonly stderr = { write: (text: string) => (this.said += text) };
  readonly exited: Promise<number>;
  exit: (code: number) => void = () => undefined;

  constructor() {
    super();
    this.exited = new Promise((resolve) => (this.exit = resolve));
  }
}

/** Boots with a port known beforehand, and answers the process and its address. */
async function booted(options: Partial<BootOptions> = {}): Promise<{ host: FakeProcess; url: string }> {
  const host = new FakeProcess();
  let url = '';
  const env = { ...testEnv, PLATFORM_MODE: 'local', ...options.env };
  const root = ThingsModule;
  await bootstrap(
    {
      module: 'crm',
      root,
      connect: (app) => {
        const server = app.getHttpServer() as import('node:net').Server;
        server.once('listening', () => {
          const address = server.address() as import('node:net').AddressInfo;
          url = `http://127.0.0.1:${address.port}`;
        });
        return Promise.resolve();
      },
      ...options,
      env,
    },
    host,
  );
  return { host, url };
}

describe('a process', () => {
  it.each(['SIGTERM', 'SIGINT'])('ends by %s with 0, after the answer it owes', async (signal) => {
    const { host, url } = await booted();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opens = promise;
    const slow = call(url, '/v1/crm/things/slow', { token: null });
    expect((await call(url, '/health/ready')).status).toBe(200);
    host.emit(signal);
    host.emit(signal); // impatience changes nothing
    resolve();
    delete gate.opens;
    expect((await slow).status).toBe(200);
    expect(await host.exited).toBe(0);
    await expect(call(url, '/health/live')).rejects.toThrow();
  });

  it.each(['uncaughtException', 'unhandledRejection'])('ends by an %s with 1', async (event) => {
    const { host } = await booted();
    host.emit(event, new Error('nobody foresaw'));
    expect(await host.exited).toBe(1);
  });

  it('does not start on a bad environment, and says why in a sentence', async () => {
    const { host } = await booted({ env: { CURSOR_SECRET: 'short' } });
    expect(await host.exited).toBe(1);
    expect(host.said).toBe(
      'crm: The environment is incomplete: CURSOR_SECRET must have at least 32 characters.\n',
    );
  });

  it('does not start where its mode and its address do not go together', async () => {
    for (const env of [{ PLATFORM_MODE: 'production' }, { PUBLIC_URL: 'http://192.168.1.5:8080' }]) {
      const { host } = await booted({ env });
      expect(await host.exited).toBe(1);
      expect(host.said).toContain('PUBLIC_URL must');
    }
  });

  it('does not start when a part of it does not', async () => {
    const { host } = await booted({ connect: () => Promise.reject(new Error('the broker does not answer')) });
    expect(await host.exited).toBe(1);
    expect(host.said).toBe('crm: the broker does not answer\n');
  });
});
