import { jest } from '@jest/globals';
import { Clock } from '@customer-platform/database';
import { TcpLink, eventually, testDatabase, startTestApp, type TestApp } from '@customer-platform/testing';
import { IdentityModule } from '../identity.module.js';
import { migrations } from '../migrations/index.js';

const MINUTE_MS = 60_000;

it('public keys and discovery are shown for an hour while the database is away', async () => {
  const wire = new TcpLink();
  await wire.open();
  const database = await testDatabase('identity', migrations);
  let app: TestApp | undefined;
  try {
    const env = { DATABASE_URL: wire.through(database.url) };
    app = await startTestApp({ module: 'identity', root: IdentityModule, database, env });
    const { url } = app;
    const read = async (page: string) => {
      const answer = await fetch(`${url}/.well-known/${page}`);
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const pages = ['jwks.json', 'openid-configuration'] as const;
    const statuses = async () => Promise.all(pages.map(async (page) => (await read(page)).status));
    const keys = await read('jwks.json');
    expect(await statuses()).toEqual([200, 200]);

    const begun = Date.now();
    let later = 0;
    jest.spyOn(Clock.prototype, 'now').mockImplementation(() => new Date(begun + later));
    await wire.cut();
    for (const minutes of [2, 59]) {
      later = minutes * MINUTE_MS;
      expect(await statuses()).toEqual([200, 200]);
      expect(await read('jwks.json')).toEqual(keys);
    }
    later = 61 * MINUTE_MS;
    expect(await statuses()).not.toContain(200);

    await wire.open();
    await eventually(async () => expect(await statuses()).toEqual([200, 200]));
  } finally {
    jest.restoreAllMocks();
    await app?.close();
    await database.drop();
    await wire.cut();
  }
}, 60_000);
