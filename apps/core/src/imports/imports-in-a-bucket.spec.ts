import { eventually, expectProblem, startS3, type S3Server } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { FileStore } from './files/file-store.js';
import { imported, lines, send } from './import.fixture.js';

/** Building the storage's program, the first time on a machine. */
const BUILT_MS = 600_000;

let server: S3Server;
let core: TestCore;
beforeAll(async () => {
  server = await startS3();
  core = await startCore({
    IMPORT_STORAGE: 's3',
    IMPORT_S3_BUCKET: server.bucket,
    IMPORT_S3_REGION: server.region,
    IMPORT_S3_PREFIX: 'imports/',
    IMPORT_S3_ENDPOINT: server.endpoint,
    IMPORT_S3_PATH_STYLE: 'true',
    IMPORT_S3_ACCESS_KEY_ID: server.accessKeyId,
    IMPORT_S3_SECRET_ACCESS_KEY: server.secretAccessKey,
  });
}, START_MS + BUILT_MS);
afterAll(async () => {
  await core.close();
  await server.stop();
});

it('a file goes through a bucket, and nothing of it stays', async () => {
  const { caller } = core.anOrganization();
  const rows = Array.from({ length: 3_000 }, (_, at) => `a-${at},a${at}@example.com,One`);
  const done = await imported(caller, lines('id,mail,name', ...rows));
  expect(done).toMatchObject({ state: 'completed', rows: { total: 3_000, created: 3_000, failed: 0 } });
  const store = core.app.app.get(FileStore, { strict: false });
  await eventually(async () => {
    expect(await store.list()).toEqual([]);
  });
});

it('a file that the storage does not take is refused, and can be sent again', async () => {
  const { caller } = core.anOrganization();
  const file = lines('id,mail,name', 'b-1,,One');
  server.freeze();
  expectProblem(await send<never>(caller, file), 503, 'dependency_unavailable');
  server.thaw();
  expect(await imported(caller, file)).toMatchObject({ state: 'completed', rows: { created: 1 } });
}, 120_000);
