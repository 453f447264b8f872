import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { jest } from '@jest/globals';
import {
  END_WITHIN_MS,
  eventually,
  MODULES,
  PlatformUnderTest,
  START_WITHIN_MS,
  startRedis,
  startS3,
  TestAuthority,
  type RedisServer,
  type S3Server,
  type Tenant,
  type TestFiles,
} from '@customer-platform/testing';
import { contactOf, prepareChain, sendPurchase } from './chain.fixture.js';
import { importContacts } from './imports.fixture.js';

const SETTLED = { within: 60_000 };
/** Building the storage's program, the first time on a machine. */
const BUILT_MS = 600_000;
jest.setTimeout(180_000);

let authority: TestAuthority;
let redis: RedisServer;
let storage: S3Server;
let platform: PlatformUnderTest;
let tenant: Tenant;
const trusted = getCACertificates('default');

beforeAll(async () => {
  [authority, redis, storage] = await Promise.all([TestAuthority.make(), startRedis(), startS3()]);
  const server = await authority.issue('server');
  // This process calls as a client of the platform does, and shows no certificate.
  setDefaultCACertificates([...trusted, await readFile(server.ca, 'utf8')]);
  const extra: Record<string, Record<string, string>> = {};
  for (const app of [...MODULES, 'console', 'gateway'])
    extra[app] = { ...(await authority.issue(app)).environment, MODULES_TLS_DEMAND_CLIENTS: 'true' };
  const gateway = await authority.issue('front');
  Object.assign(extra['gateway'] ?? {}, { TLS_CERT_FILE: gateway.cert, TLS_KEY_FILE: gateway.key });
  Object.assign(extra['core'] ?? {}, await behindTls(server, await authority.issue('core to others')));
  platform = await PlatformUnderTest.start(extra, { pages: true, tls: true });
  tenant = await platform.tenant();
  await prepareChain(tenant);
}, START_WITHIN_MS + BUILT_MS);
afterAll(async () => {
  await platform.stop();
  setDefaultCACertificates(trusted);
  await Promise.all([redis.stop(), storage.stop(), authority.remove()]);
}, END_WITHIN_MS);

/** Core's Redis and bucket, which ask whoever comes for a certificate. */
async function behindTls(server: TestFiles, { ca, cert, key }: TestFiles): Promise<Record<string, string>> {
  const front = (url: string): Promise<number> => authority.before(Number(new URL(url).port), server);
  const files = (of: string): Record<string, string> => ({
    [`${of}_TLS_CA_FILE`]: ca,
    [`${of}_TLS_CERT_FILE`]: cert,
    [`${of}_TLS_KEY_FILE`]: key,
  });
  return {
    REDIS_URL: `rediss://127.0.0.1:${String(await front(redis.url))}`,
    ...files('REDIS'),
    IMPORT_STORAGE: 's3',
    IMPORT_S3_BUCKET: storage.bucket,
    IMPORT_S3_REGION: storage.region,
    IMPORT_S3_PREFIX: 'imports/',
    IMPORT_S3_ENDPOINT: `https://127.0.0.1:${String(await front(storage.endpoint))}`,
    IMPORT_S3_PATH_STYLE: 'true',
    IMPORT_S3_ACCESS_KEY_ID: storage.accessKeyId,
    IMPORT_S3_SECRET_ACCESS_KEY: storage.secretAccessKey,
    ...files('IMPORT_S3'),
  };
}

describe('a platform of which every listener speaks TLS and asks for certificates, Redis and the bucket included', () => {
  it('leads an event to points, a mail and the timeline', async () => {
    const { externalId } = await sendPurchase(tenant.ingestion);
    const { admin } = tenant;
    const contactId = await contactOf(admin, externalId);
    await eventually(async () => {
      expect(await platform.mailsTo(`${externalId}@example.com`)).toHaveLength(1);
      const { body } = await admin.get<{ data: { source: string }[] }>(
        `/v1/crm/contacts/${contactId}/timeline`,
      );
      expect(new Set(body.data.map(({ source }) => source))).toEqual(
        new Set(['core', 'loyalty', 'messaging']),
      );
    }, SETTLED);
  });

  it('takes files into its bucket, and shares its limits in Redis', async () => {
    await importContacts(tenant.admin);
    await eventually(async () => {
      const { body } = await tenant.admin.get<{ data: unknown[] }>(
        '/v1/core/contacts?external_id=imported-1',
      );
      expect(body.data).toHaveLength(1);
    }, SETTLED);
    expect(platform.processes['core']?.log).not.toMatch(/The connection to Redis broke/);
  });

  it('serves the Console and answers who has no credential', async () => {
    const page = await fetch(`${platform.url}/console/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching('text/html'),
    ]);
    await page.arrayBuffer();
    const keys = await fetch(`${platform.url}/.well-known/jwks.json`);
    expect([keys.status, await keys.json()]).toMatchObject([200, { keys: expect.any(Array) as unknown[] }]);
  });

  it.each(MODULES)('cuts off who comes to %s without a certificate, but for its health', async (module) => {
    for (const url of [platform.urlOf(module), platform.internalUrlOf(module)]) {
      const plain = url.replace('https:', 'http:');
      for (const address of [`${url}/metrics`, `${url}/v1/${module}/contacts`, `${plain}/health/live`])
        await expect(fetch(address)).rejects.toThrow('fetch failed');
    }
    const health = await fetch(`${platform.urlOf(module)}/health/live`);
    expect([health.status, await health.text()]).toEqual([200, expect.any(String)]);
  });
});
