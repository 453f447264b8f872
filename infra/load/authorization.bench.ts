/**
 * `TEST_POSTGRES_URL=… node --expose-gc infra/load/authorization.bench.ts [--organizations 10000]` (after a build)
 *
 * What authorization costs on this machine: identity's resolve at 500 look-ups a second, the memory of a cache that
 * holds 10 keys of each of 10,000 organizations, a permit from that cache with and without waiting, a refused key.
 * Needs a Postgres superuser; no Kafka.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  AccessTokens,
  apiKeyPrefix,
  ChangeFeed,
  CredentialCache,
  CredentialResolver,
  hashApiKey,
  HttpAuthorizationSource,
  InternalClient,
  KeyUsage,
  monotonic,
  newApiKey,
  ServiceTokens,
  type ServiceKeys,
} from '@customer-platform/authorization';
import { freePort } from '@customer-platform/client/free-port.ts';
import { readProcesses } from '@customer-platform/client/processes.ts';
import { newId, provisionDatabase } from '@customer-platform/database';
import { Client } from 'pg';

const { values } = parseArgs({ options: { organizations: { type: 'string', default: '10000' } } });
const ORGANIZATIONS = Number(values.organizations);
const KEYS_EACH = 10;
const RATE = 500;
const SECONDS = 20;
const REPEATS = 300_000;
const ACCEPTS = { accepts: 'api_key' } as const;
const DIST = resolve(import.meta.dirname, '../../apps/identity/dist');

const print = (what: string, figure: string): void =>
  void process.stdout.write(`${what.padEnd(58)}${figure}\n`);
const percentile = (sorted: number[], part: number): string =>
  (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);

const pairs = ['core', 'identity'].map((kid) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    own: { ...privateKey.export({ format: 'jwk' }), kid },
    open: { ...publicKey.export({ format: 'jwk' }), kid },
  };
});
const publicKeys = { keys: pairs.map(({ open }) => open) };

function environment(url: string, ownerUrl: string, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    KAFKA_BROKERS: '127.0.0.1:9',
    INTERNAL_PORT: String(port),
    PROCESS_ROLE: 'api',
    PLATFORM_MODE: 'local',
    LOG_LEVEL: 'warn',
    CURSOR_SECRET: randomBytes(32).toString('hex'),
    SERVICE_PRIVATE_KEY: JSON.stringify(pairs[1]?.own),
    SERVICE_PUBLIC_KEYS: JSON.stringify(publicKeys),
  };
}

/** Organizations below the root with their built-in roles and ten keys each: five of them ingest, five own everything. */
async function populate(adminUrl: string): Promise<string[]> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  const [root] = (await client.query<{ id: string }>('SELECT id FROM organizations')).rows;
  const keys: string[] = [];
  for (let from = 0; from < ORGANIZATIONS; from += 500) {
    const ids = Array.from({ length: Math.min(500, ORGANIZATIONS - from) }, () => newId());
    await client.query(
      `INSERT INTO organizations (organization_id, id, parent_id, path, name, slug, locale, timezone, created_at, updated_at)
       SELECT id, id, $2, ARRAY[$2, id], 'Bench', 'bench-' || id, 'en', 'UTC', now(), now() FROM unnest($1::uuid[]) AS id`,
      [ids, root?.id],
    );
    await client.query(
      `INSERT INTO roles (organization_id, id, name, kind, key, created_at, updated_at)
       SELECT made.id, gen_random_uuid(), role.name, role.kind, role.key, now(), now()
         FROM unnest($1::uuid[]) AS made (id), roles AS role WHERE role.organization_id = $2`,
      [ids, root?.id],
    );
    const made = ids.flatMap((id) =>
      Array.from({ length: KEYS_EACH }, (_, n) => ({ id, key: newApiKey(), n })),
    );
    await client.query(
      `INSERT INTO api_keys (organization_id, id, name, role_id, key_hash, prefix, created_at, updated_at)
       SELECT made.organization_id, gen_random_uuid(), 'Bench', role.id, decode(made.hash, 'hex'), made.prefix, now(), now()
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS made (organization_id, hash, prefix, key)
         JOIN roles AS role ON role.organization_id = made.organization_id AND role.key = made.key AND role.kind = 'machine'`,
      [
        made.map(({ id }) => id),
        made.map(({ key }) => hashApiKey(key)),
        made.map(({ key }) => apiKeyPrefix(key)),
        made.map(({ n }) => (n % 2 ? 'owner' : 'ingest')),
      ],
    );
    keys.push(...made.map(({ key }) => key));
  }
  await client.query('ANALYZE');
  await client.end();
  return keys;
}

/** Look-ups begun at a steady rate whatever the answers take; those are timed from when they should have begun. */
async function load(
  source: HttpAuthorizationSource,
  keys: string[],
): Promise<{ times: number[]; failed: number }> {
  const times: number[] = [];
  let failed = 0;
  const running: Promise<void>[] = [];
  const start = performance.now();
  for (let number = 0; number < RATE * SECONDS; number += 1) {
    const due = start + (number * 1_000) / RATE;
    const ahead = due - performance.now();
    if (ahead > 0) await pause(ahead);
    const key = keys[Math.floor(Math.random() * keys.length)] ?? '';
    const answer = source.resolve(hashApiKey(key), 5_000);
    running.push(
      answer.then(
        () => void times.push(performance.now() - due),
        () => void (failed += 1),
      ),
    );
  }
  await Promise.all(running);
  return { times: times.sort((a, b) => a - b), failed };
}

async function fill(resolver: CredentialResolver, keys: string[]): Promise<void> {
  const waiting = [...keys];
  const work = async (): Promise<void> => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      await resolver.authenticate(`Bearer ${key}`, ACCEPTS);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

function usedMemory(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

function cpuOf({ pid }: ChildProcess): number {
  return readProcesses().find((candidate) => candidate.pid === pid)?.cpuSeconds ?? 0;
}

async function timed(what: string, each: (header: string) => unknown, headers: string[]): Promise<void> {
  for (let number = 0; number < 20_000; number += 1) await each(headers[number % headers.length] ?? '');
  const before = process.cpuUsage();
  for (let number = 0; number < REPEATS; number += 1) {
    const pending = each(headers[number % headers.length] ?? '');
    if (pending instanceof Promise) await pending;
  }
  const { user, system } = process.cpuUsage(before);
  print(what, `${((user + system) / REPEATS).toFixed(2)} µs of CPU`);
}

async function measure(identity: ChildProcess, port: number, keys: string[]): Promise<void> {
  const tokens = new ServiceTokens('core', {
    SERVICE_PRIVATE_KEY: pairs[0]?.own,
    SERVICE_PUBLIC_KEYS: publicKeys,
  } as ServiceKeys);
  const client = new InternalClient(tokens, { identity: `http://127.0.0.1:${String(port)}` });
  const source = new HttpAuthorizationSource(client);
  const cache = new CredentialCache();
  const feed = new ChangeFeed(source, cache, monotonic);
  const usage = new KeyUsage(source);
  // Keys are measured; no access token is presented.
  const accessTokens = new AccessTokens(source, 'http://127.0.0.1', monotonic);
  const resolver = new CredentialResolver(source, cache, feed, usage, monotonic, accessTokens);
  while (!(await feed.read())) await pause(100);
  feed.start();

  const before = cpuOf(identity);
  const { times, failed } = await load(source, keys);
  const spent = cpuOf(identity) - before;
  const shape = [0.5, 0.95, 0.99].map((part) => percentile(times, part)).join(' / ');
  print(`resolve at ${String(RATE)}/s: p50 / p95 / p99`, `${shape} ms, ${String(failed)} failed`);
  print('resolve: CPU of identity', `${((spent / times.length) * 1e6).toFixed(0)} µs`);

  const empty = usedMemory();
  await fill(resolver, keys);
  print(`cache of ${String(cache.size)} keys`, `${(usedMemory() - empty).toFixed(0)} MB`);

  const headers = keys.map((key) => `Bearer ${key}`).sort(() => Math.random() - 0.5);
  const one = headers.slice(0, 1);
  const garbage = [`Bearer ${'x'.repeat(47)}`, `Bearer cpk_live_${'0'.repeat(38)}`];
  await timed('peek, always the same key', (header) => resolver.peek(header), one);
  await timed('peek, all keys in turn', (header) => resolver.peek(header), headers);
  await timed('authenticate from the cache', (header) => resolver.authenticate(header, ACCEPTS), one);
  await timed('peek, garbage', (header) => resolver.peek(header), garbage);
  await feed.stop();
  await client.close();
}

async function main(): Promise<void> {
  const adminUrl = process.env['TEST_POSTGRES_URL'];
  if (!adminUrl) throw new Error('TEST_POSTGRES_URL is missing: give a Postgres superuser');
  const database = `identity_bench_${randomBytes(4).toString('hex')}`;
  const passwords = { ownerPassword: 'test', appPassword: 'test' };
  const { url, ownerUrl } = await provisionDatabase({ adminUrl, module: 'identity', database, ...passwords });
  const port = await freePort();
  const env = environment(url, ownerUrl, port);
  for (const script of ['migrate.js', 'bootstrap.js'])
    spawnSync(process.execPath, [resolve(DIST, script)], { env });
  const server = new URL(adminUrl);
  server.pathname = `/${database}`;
  const keys = await populate(server.toString());
  print('organizations, keys', `${String(ORGANIZATIONS)}, ${String(keys.length)}`);
  const identity = spawn(process.execPath, [resolve(DIST, 'main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await measure(identity, port, keys);
  } finally {
    identity.kill();
    await new Promise((done) => identity.once('exit', done));
    const admin = new Client({ connectionString: adminUrl });
    await admin.connect();
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.end();
  }
}

await main();
