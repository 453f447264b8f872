/**
 * `npm run load -- authorization [--organizations 10000]` (after `npm run build`)
 *
 * What authorization costs on this machine: identity's resolve at 500 look-ups a second, the memory of a cache that
 * holds 10 keys of each of 10,000 organizations, and what `track` pays for a key and its permission out of that cache,
 * measured as a loop of exactly that while the change feed is read: CPU, and the time of single requests. On a
 * PostgreSQL of its own, or the one of `TEST_POSTGRES_URL` (a superuser's); no Kafka.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onConnection } from '@customer-platform/kit/databases.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import {
  ACCESS_TOKEN_AUDIENCE,
  ACCESS_TOKEN_TYPE,
  AccessTokens,
  ApiCredentialStrategy,
  ChangeFeed,
  CredentialCache,
  CredentialResolver,
  hashApiKey,
  HttpAuthorizationSource,
  InternalClient,
  KeyUsage,
  monotonic,
  ServiceTokens,
  type ServiceKeys,
} from '@customer-platform/authorization';
import { ApplicationPassport, type AuthenticatedCaller } from '@customer-platform/http';
import { freePort } from '@customer-platform/kit/ports.ts';
import { descendantsOf, readProcesses } from '@customer-platform/kit/processes.ts';
import { provisionDatabase } from '@customer-platform/database';
import { requiredVariable } from '@customer-platform/testing';
import type { Request } from 'express';
import { SignJWT } from 'jose';
import { populateWithKeys } from './authorization-keys.ts';
import startTestServices, { endTestServices } from '../test/global-setup.ts';

const RATE = 500;
const SECONDS = 20;
const WARM_UP_SECONDS = 3;
const REPEATS = 300_000;
const SINGLY = 100_000;
const BETWEEN_BREAKS = 500;
const TOKENS = 6_000;
const TOKENS_WARM = 2_000;
const ACCEPTS = { accepts: 'api_key', address: '192.0.2.1' } as const;
const DIST = resolve(import.meta.dirname, '../../apps/identity/dist');

const print = (what: string, figure: string): void =>
  void process.stdout.write(`${what.padEnd(58)}${figure}\n`);
const at = (times: readonly number[], share: number): string => percentile(times, share).toFixed(1);

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
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SERVICE_PRIVATE_KEY: JSON.stringify(pairs[1]?.own),
    SERVICE_PUBLIC_KEYS: JSON.stringify(publicKeys),
    // The other modules are asked about references only, and nothing here is deleted.
    ...Object.fromEntries(
      ['CORE', 'CRM', 'MESSAGING', 'LOYALTY'].map((name) => [`${name}_INTERNAL_URL`, 'http://127.0.0.1:9']),
    ),
  };
}

/** Look-ups begun at a steady rate whatever the answers take; those are timed from when they should have begun. */
async function load(
  source: HttpAuthorizationSource,
  keys: string[],
  seconds: number,
): Promise<{ times: number[]; failed: number }> {
  const times: number[] = [];
  let failed = 0;
  const running: Promise<void>[] = [];
  const start = performance.now();
  for (let number = 0; number < RATE * seconds; number += 1) {
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
  return { times, failed };
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'authorization_unavailable';

/** Every key asked for once. Answers how many of them had to be asked for again: the machine was too busy. */
async function fill(resolver: CredentialResolver, keys: string[]): Promise<number> {
  const waiting = [...keys];
  let again = 0;
  const work = async (): Promise<void> => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      try {
        await resolver.authenticate(`Bearer ${key}`, ACCEPTS);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        waiting.push(key);
        again += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return again;
}

function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

/** CPU seconds so far: of identity, and of PostgreSQL where it is our own. */
interface Cpu {
  readonly identity: number;
  readonly postgres: number;
}

function cpuOf({ pid }: ChildProcess): Cpu {
  const identity = readProcesses().find((candidate) => candidate.pid === pid)?.cpuSeconds ?? 0;
  const used = descendantsOf(process.pid)
    .filter(({ name }) => name === 'postgres')
    .map(({ cpuSeconds, endedSeconds }) => cpuSeconds + endedSeconds);
  return { identity, postgres: used.reduce((sum, one) => sum + one, 0) };
}

type Judge = (header: string) => boolean | Promise<boolean>;

/**
 * CPU of one judgement, that of the feed's reads meanwhile with it: now and then the loop is left to them, without
 * which no cached answer would permit. What `judge` says no to is counted, for it is another path's time.
 */
async function timed(what: string, judge: Judge, headers: string[]): Promise<void> {
  const run = async (repeats: number): Promise<number> => {
    let refused = 0;
    for (let number = 0; number < repeats; number += 1) {
      if (number % BETWEEN_BREAKS === 0) await setImmediate();
      const answer = judge(headers[number % headers.length] ?? '');
      if (!(typeof answer === 'boolean' ? answer : await answer)) refused += 1;
    }
    return refused;
  };
  await run(20_000);
  const before = process.cpuUsage();
  const refused = await run(REPEATS);
  const { user, system } = process.cpuUsage(before);
  print(what, `${((user + system) / REPEATS).toFixed(2)} µs of CPU, ${String(REPEATS - refused)} permitted`);
}

/** Times of single judgements, the clock's own among them. */
async function singly(what: string, judge: (header: string) => boolean, headers: string[]): Promise<void> {
  const times: number[] = [];
  for (let number = 0; number < SINGLY; number += 1) {
    if (number % BETWEEN_BREAKS === 0) await setImmediate();
    const header = headers[number % headers.length] ?? '';
    const began = performance.now();
    judge(header);
    times.push((performance.now() - began) * 1_000);
  }
  print(what, `${at(times, 0.95)} / ${at(times, 0.99)} µs`);
}

async function measureResolve(
  identity: ChildProcess,
  source: HttpAuthorizationSource,
  keys: string[],
): Promise<void> {
  await load(source, keys, WARM_UP_SECONDS);
  const before = cpuOf(identity);
  const { times, failed } = await load(source, keys, SECONDS);
  const after = cpuOf(identity);
  const shape = [0.5, 0.95, 0.99].map((part) => at(times, part)).join(' / ');
  print(`resolve at ${String(RATE)}/s: p50 / p95 / p99`, `${shape} ms, ${String(failed)} failed`);
  printCpu('resolve', before, after, times.length + failed);
}

/** Filled by as many at a time as connections are kept; none of these calls is given up by who asks. */
async function measureCache(
  identity: ChildProcess,
  { resolver, cache }: { resolver: CredentialResolver; cache: CredentialCache },
  keys: string[],
): Promise<void> {
  const empty = usedMemory();
  const before = cpuOf(identity);
  const again = await fill(resolver, keys);
  printCpu('fill', before, cpuOf(identity), keys.length + again);
  const megabytes = (usedMemory() - empty).toFixed(0);
  print(`cache of ${String(cache.size)} keys`, `${megabytes} MB, ${String(again)} asked for again`);
}

function printCpu(what: string, before: Cpu, after: Cpu, calls: number): void {
  const each = (seconds: number): string => `${((seconds / calls) * 1e6).toFixed(0)} µs a call`;
  print(`${what}: CPU of identity`, each(after.identity - before.identity));
  if (after.postgres > 0) print(`${what}: CPU of PostgreSQL`, each(after.postgres - before.postgres));
}

/** What `track` does with a header: who is it, and may they send events. */
async function measureGuard(resolver: CredentialResolver, keys: string[]): Promise<void> {
  const headers = keys.map((key) => `Bearer ${key}`).sort(() => Math.random() - 0.5);
  const few = headers.slice(0, 10);
  const garbage = [`Bearer ${'x'.repeat(47)}`, `Bearer cpk_live_${'0'.repeat(38)}`];
  const permits = (header: string): boolean =>
    resolver.peek(header)?.permissions.has('core.events.write') === true;
  const authenticated = async (header: string): Promise<boolean> =>
    (await resolver.authenticate(header, ACCEPTS)).permissions.has('core.events.write');
  await timed('track’s guard, ten keys', permits, few);
  await timed('track’s guard, all keys in turn', permits, headers);
  await singly('track’s guard, ten keys: p95 / p99', permits, few);
  await singly('track’s guard, all keys in turn: p95 / p99', permits, headers);
  await timed('management’s verifier, all keys in turn', authenticated, headers);
  const passport = new ApplicationPassport();
  new ApiCredentialStrategy(passport, resolver);
  await timed(
    'the same by its strategy, as the guard asks',
    async (authorization) => {
      const request = { headers: { authorization }, socket: {} } as Request;
      const caller = await passport.authenticate('api_credential', request, ACCEPTS);
      return (caller as AuthenticatedCaller).permissions.has('core.events.write');
    },
    headers,
  );
  await timed('garbage', permits, garbage);
}

/** What a module pays for a user's access token, at first sight and after, besides what it asks identity. */
async function measureTokens(): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'ES256' }];
  const issuer = 'http://127.0.0.1';
  const source = { signingKeys: () => Promise.resolve({ keys }) } as unknown as HttpAuthorizationSource;
  const verifier = new AccessTokens(source, issuer, monotonic);
  const signed = Array.from({ length: TOKENS }, () =>
    new SignJWT({ sid: randomUUID(), org_id: randomUUID(), amr: ['pwd'], scope: 'openid' })
      .setProtectedHeader({ alg: 'ES256', kid: 'bench', typ: ACCESS_TOKEN_TYPE })
      .setIssuer(issuer)
      .setAudience(ACCESS_TOKEN_AUDIENCE)
      .setSubject(randomUUID())
      .setIssuedAt()
      .setExpirationTime('5 minutes')
      .sign(privateKey),
  );
  const tokens = await Promise.all(signed);
  for (const token of tokens.slice(0, TOKENS_WARM)) await verifier.verify(token);
  for (const what of ['at first sight', 'seen before']) {
    const before = process.cpuUsage();
    for (const token of tokens.slice(TOKENS_WARM)) await verifier.verify(token);
    const { user, system } = process.cpuUsage(before);
    print(`an access token, ${what}`, `${((user + system) / (TOKENS - TOKENS_WARM)).toFixed(1)} µs of CPU`);
  }
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
  while (!(await feed.read())) {
    if (identity.exitCode !== null) throw new Error('identity has ended instead of answering');
    await pause(100);
  }
  feed.start();
  try {
    await measureResolve(identity, source, keys);
    await measureCache(identity, { resolver, cache }, keys);
    await measureGuard(resolver, keys);
    await measureTokens();
  } finally {
    await feed.stop();
    await client.close();
  }
}

/** What the figures were measured on, and how busy it was. */
function printMachine(): void {
  const [one = 0] = loadavg();
  const [cpu] = cpus();
  print('machine', `${String(cpus().length)} × ${cpu?.model ?? 'unknown'}, load ${one.toFixed(1)}`);
  print('Node', process.version);
}

/** Prints the figures. */
export async function measureAuthorization(organizations: number): Promise<void> {
  process.env['TEST_KAFKA_BROKERS'] ??= '127.0.0.1:9'; // none is needed, so none is started
  await startTestServices();
  try {
    await measureOn(requiredVariable('TEST_POSTGRES_URL'), organizations);
  } finally {
    if (globalThis.testServices) await endTestServices(globalThis.testServices);
  }
}

function run(words: string[], env: NodeJS.ProcessEnv): void {
  const args = [resolve(DIST, 'platform.js'), ...words];
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')} has ended with ${String(status)}: ${stderr}`);
}

async function measureOn(adminUrl: string, organizations: number): Promise<void> {
  const database = `identity_bench_${randomBytes(4).toString('hex')}`;
  const passwords = { ownerPassword: 'test', appPassword: 'test' };
  const { url, ownerUrl } = await provisionDatabase({ adminUrl, module: 'identity', database, ...passwords });
  const port = await freePort();
  const env = environment(url, ownerUrl, port);
  for (const words of [['migrate'], ['organizations', 'bootstrap']]) run(words, env);
  const server = new URL(adminUrl);
  server.pathname = `/${database}`;
  const keys = await populateWithKeys(server.toString(), organizations);
  printMachine();
  print('organizations, keys', `${String(organizations)}, ${String(keys.length)}`);
  const identity = spawn(process.execPath, [resolve(DIST, 'main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await measure(identity, port, keys);
  } finally {
    if (identity.exitCode === null) {
      identity.kill();
      await new Promise((done) => identity.once('exit', done));
    }
    await onConnection(adminUrl, (admin) => admin.query(`DROP DATABASE ${database} WITH (FORCE)`));
  }
}
