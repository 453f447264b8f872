import { ConfigError } from '@customer-platform/config';
import type { Installation } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import {
  eventually,
  startRedis,
  startS3,
  TestAuthority,
  type RedisServer,
  type S3Server,
} from '@customer-platform/testing';
import { jest } from '@jest/globals';
import { configuredStore } from '../imports/files/import-files.js';
import { configuredRedis } from '../ingestion/rate-limits/configured-redis.js';
import type { RedisLimitStore } from '../ingestion/rate-limits/redis-limit-store.js';

/** Building the storage's program, the first time on a machine. */
const START_MS = 600_000;
/** Whose they are is asked in installations.spec.ts. */
const ANYBODYS = { claim: () => Promise.resolve() } as unknown as Installation;

let [ours, another]: TestAuthority[] = [];
let redis: RedisServer;
let storage: S3Server;
const before = { ...process.env };
beforeAll(async () => {
  [redis, storage, ours, another] = await Promise.all([
    startRedis(),
    startS3(),
    TestAuthority.make(),
    TestAuthority.make(),
  ]);
}, START_MS);
afterEach(() => {
  process.env = { ...before };
});
afterAll(async () => {
  await Promise.all([ours?.remove(), another?.remove()]);
  await Promise.all([redis.stop(), storage.stop()]);
});

const portOf = (url: string): number => Number(new URL(url).port);

/** TLS before a plain server: its port, and what who calls it has. */
async function secured(url: string, prefix: string) {
  if (!ours || !another) throw new Error('There is no authority');
  const port = await ours.before(portOf(url), await ours.issue('server'));
  const [known, stranger] = [await ours.issue('core'), await another.issue('stranger')];
  const named = (files: { ca?: string; cert?: string; key?: string }): Record<string, string> =>
    Object.fromEntries(
      Object.entries(files).map(([name, file]) => [`${prefix}_${name.toUpperCase()}_FILE`, file]),
    );
  const { ca, cert, key } = known;
  return {
    port,
    right: named({ ca, cert, key }),
    wrong: [
      named({}),
      named({ ca }),
      named({ ca, cert: stranger.cert, key: stranger.key }),
      named({ ca: stranger.ca, cert, key }),
    ],
  };
}

it('limits are shared in a Redis that asks for a certificate, and by nobody without', async () => {
  const { port, right, wrong } = await secured(redis.url, 'REDIS_TLS');
  const REDIS_URL = `rediss://127.0.0.1:${String(port)}`;
  const store = async (environment: Record<string, string>): Promise<RedisLimitStore> => {
    process.env = { ...before, REDIS_URL, ...environment };
    const made = await configuredRedis(ANYBODYS);
    if (!made) throw new Error('There is no Redis');
    return made;
  };
  const known = await store(right);
  expect(await known.beat('one')).toBe(1);
  await known.leave('one');
  await known.close();
  for (const environment of wrong) {
    const stranger = await store(environment);
    const broke = jest.spyOn(log, 'debug');
    // It tries again for as long as the process lives.
    const beat = stranger.beat('a stranger').then(
      () => 'let in',
      () => 'refused',
    );
    await eventually(() => {
      expect(broke).toHaveBeenCalledWith(expect.anything(), 'The connection to Redis broke');
    });
    await stranger.close();
    expect(await beat).toBe('refused');
    broke.mockRestore();
  }
  await expect(store({ ...right, REDIS_URL: redis.url })).rejects.toThrow(ConfigError);
});

it('files of imports lie in a bucket behind TLS, which answers nobody without a certificate', async () => {
  const { port, right, wrong } = await secured(storage.endpoint, 'IMPORT_S3_TLS');
  const store = (environment: Record<string, string>) => {
    process.env = {
      ...before,
      IMPORT_STORAGE: 's3',
      IMPORT_S3_BUCKET: storage.bucket,
      IMPORT_S3_REGION: storage.region,
      IMPORT_S3_PREFIX: 'imports/',
      IMPORT_S3_ENDPOINT: `https://127.0.0.1:${String(port)}`,
      IMPORT_S3_PATH_STYLE: 'true',
      IMPORT_S3_ACCESS_KEY_ID: storage.accessKeyId,
      IMPORT_S3_SECRET_ACCESS_KEY: storage.secretAccessKey,
      ...environment,
    };
    return configuredStore(ANYBODYS);
  };
  const known = await store(right);
  const file = await known.create('a-file');
  await file.write(Buffer.from('sealed'));
  await file.finish();
  expect((await known.read('a-file', 0, 6)).toString()).toBe('sealed');
  for (const environment of wrong)
    await expect((await store(environment)).list()).rejects.toThrow('The bucket of imports cannot be used');
});
