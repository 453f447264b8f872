import { createClient } from '@redis/client';
import { importBucketConfig, readConfig } from '@customer-platform/config';
import { Database, Installation } from '@customer-platform/database';
import { eventually, startRedis, startS3, type RedisServer, type S3Server } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { BucketStore } from '../imports/files/bucket-store.js';
import { FileStore } from '../imports/files/file-store.js';
import { LIMIT_STORE } from '../ingestion/rate-limits/limit-exchange.js';
import { RedisLimitStore } from '../ingestion/rate-limits/redis-limit-store.js';

/** Building the storage's program, the first time on a machine. */
const BUILT_MS = 600_000;
const OTHER = '0195b4c7-7a52-7a4e-8c5c-6f4b9d1f0a11';

let redis: RedisServer;
let storage: S3Server;
beforeAll(async () => {
  [redis, storage] = await Promise.all([startRedis(), startS3()]);
}, START_MS + BUILT_MS);
afterAll(async () => {
  await Promise.all([redis.stop(), storage.stop()]);
});

const inRedis = () => ({ REDIS_URL: redis.url });
const inBucket = (prefix: string) => ({
  IMPORT_STORAGE: 's3',
  IMPORT_S3_BUCKET: storage.bucket,
  IMPORT_S3_REGION: storage.region,
  IMPORT_S3_PREFIX: prefix,
  IMPORT_S3_ENDPOINT: storage.endpoint,
  IMPORT_S3_PATH_STYLE: 'true',
  IMPORT_S3_ACCESS_KEY_ID: storage.accessKeyId,
  IMPORT_S3_SECRET_ACCESS_KEY: storage.secretAccessKey,
});

/** Says that the database is another installation's. */
const become = (core: TestCore, id: string): Promise<unknown> =>
  core.app.app.get(Database).acrossOrganizations((tx) => tx.query('UPDATE installation SET id = $1', [id]));

const idOf = (core: TestCore): Promise<string> => core.app.app.get(Installation).id();

describe('Redis', () => {
  async function mark(): Promise<string | null> {
    const client = await createClient({ url: redis.url }).connect();
    const found = await client.get('core:rate_limits:installation');
    client.destroy();
    return found;
  }

  it('is marked by the first start, and refuses the next of another installation', async () => {
    const core = await startCore(inRedis());
    const id = await idOf(core);
    expect(await mark()).toBe(id);
    // As a copy whose id was renewed, and which is still led to the original's.
    const store = core.app.app.get<RedisLimitStore>(LIMIT_STORE, { strict: false });
    await become(core, OTHER);
    const copy = new RedisLimitStore(redis.url, new Installation(core.app.app.get(Database)));
    await expect(copy.onModuleInit()).rejects.toThrow(
      `Redis (REDIS_URL) is used by the installation ${id}, and this database is of the installation ${OTHER}`,
    );
    await expect(copy.exchange([], 1)).rejects.toThrow(/is used by the installation/);
    await copy.replace(OTHER);
    await copy.onModuleInit();
    expect(await copy.beat('a copy')).toBe(2);
    await store.replace(id);
    await copy.close();
    await core.close();
  });

  it('is marked again after it was restarted empty, before a limit is read', async () => {
    const core = await startCore(inRedis());
    const store = core.app.app.get<RedisLimitStore>(LIMIT_STORE, { strict: false });
    await redis.crash();
    await redis.restart();
    await eventually(() => store.exchange([], 1));
    expect(await mark()).toBe(await idOf(core));
    await core.close();
  });
});

describe('the bucket of imports', () => {
  it('is marked by the first start, refuses another installation, and lists no mark among the files', async () => {
    const core = await startCore(inBucket('first/'));
    const id = await idOf(core);
    const files = core.app.app.get<FileStore, BucketStore>(FileStore, { strict: false });
    expect(await files.place.marks()).toEqual([id]);
    expect(await files.list()).toEqual([]);
    await become(core, OTHER);
    await expect(startTwin(core, 'first/')).rejects.toThrow(
      `The bucket of imports (IMPORT_S3_BUCKET, IMPORT_S3_PREFIX) is used by the installation ${id}`,
    );
    const twin = await startTwin(core, 'second/');
    expect(await twin.place.marks()).toEqual([OTHER]);
    await core.close();
  });

  it('has one mark after two have come at once, and whoever set it is let in', async () => {
    const core = await startCore(inBucket('third/'));
    const place = core.app.app.get<FileStore, BucketStore>(FileStore, { strict: false }).place;
    await place.mark(OTHER);
    expect(await place.marks()).toEqual([await idOf(core)]);
    await place.replace(OTHER);
    expect(await place.marks()).toEqual([OTHER]);
    await core.close();
  });

  /** The files as another process of core with this database finds them. */
  async function startTwin(core: TestCore, prefix: string): Promise<BucketStore> {
    const installation = new Installation(core.app.app.get(Database));
    const store = new BucketStore(readConfig(importBucketConfig, inBucket(prefix)), installation);
    await store.onModuleInit();
    return store;
  }
});
