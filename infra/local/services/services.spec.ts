import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { cacheFolder } from '@customer-platform/kit/cache.mjs';
import { waitUntilReady } from './child.ts';
import { Guardian } from './guardian.ts';
import { brokerAnswers, startKafka } from './kafka.ts';
import { commandLine } from './orphans.ts';
import { freePort } from '@customer-platform/kit/ports.ts';
import { answers, queryOnce, startPostgres } from './postgres.ts';

const cache = cacheFolder();

let folder: string;
let guardian: Guardian;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'services-')));
  guardian = new Guardian();
});
afterAll(async () => {
  await guardian.release();
  rmSync(folder, { recursive: true, force: true });
});

const query = queryOnce<Record<string, unknown>>;

describe('startPostgres', () => {
  const options = async (name: string) => ({
    folder: join(folder, name, 'postgres'),
    port: await freePort(),
    password: 'test-password',
    log: join(folder, name, 'postgres.log'),
    guardian,
    durable: false,
  });

  it('makes a cluster of version 18 that keeps its rows over a stop, a kill and a start', async () => {
    const settings = await options('kept');
    const first = await startPostgres(settings);
    expect((await query(first.url, 'show server_version'))[0]?.['server_version']).toMatch(/^18\./);
    await query(first.url, 'create table kept (n int); insert into kept values (7)');
    await first.child.stop(10_000);
    expect(await answers(first.url)).toBe(false);
    const second = await startPostgres(settings);
    process.kill(second.child.pid, 'SIGKILL');
    await second.child.ended;
    const third = await startPostgres(settings);
    expect(await query(third.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await third.child.stop(10_000);
  }, 60_000);

  it('makes it anew where a former start was killed while making it', async () => {
    const settings = await options('half');
    for (const part of [settings.folder, `${settings.folder}.new`]) {
      mkdirSync(join(part, 'base'), { recursive: true });
      writeFileSync(join(part, 'base', 'half'), 'written');
    }
    const { child, url } = await startPostgres(settings);
    expect(await answers(url)).toBe(true);
    expect(existsSync(join(settings.folder, 'base', 'half'))).toBe(false);
    await child.stop(10_000);
  }, 60_000);

  it('ends a server that outlived its supervisor, and is not deceived by a number given anew', async () => {
    const settings = await options('orphan');
    const orphan = await startPostgres(settings);
    const next = await startPostgres(settings);
    expect(orphan.child.running).toBe(false);
    await next.child.stop(10_000);
    writeFileSync(join(settings.folder, 'postmaster.pid'), `${process.pid}\n${settings.folder}\n`);
    const third = await startPostgres(settings);
    await third.child.stop(10_000);
  }, 60_000);

  it('leaves a cluster alone that a server may have which does not tell its folder', async () => {
    const settings = await options('unclear');
    const { child } = await startPostgres(settings);
    await child.stop(10_000);
    const lock = join(settings.folder, 'postmaster.pid');
    const other = spawn('/bin/sh', ['-c', 'read line # postgres: checkpointer'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    try {
      writeFileSync(lock, `${other.pid}\n`);
      await expect(startPostgres(settings)).rejects.toThrow(
        `Process ${other.pid} may be a PostgreSQL that has ${settings.folder}: end it, or remove ${lock}`,
      );
      expect(existsSync(lock)).toBe(true);
    } finally {
      other.stdin.end();
      await once(other, 'exit');
    }
    await (await startPostgres(settings)).child.stop(10_000);
  }, 60_000);

  it('yields to other sessions as to other processes, but for the backends of some roles', async () => {
    const niceness = { value: 10, except: ['urgent'] };
    const { child, url } = await startPostgres({ ...(await options('nice')), niceness });
    await query(url, `CREATE ROLE urgent LOGIN SUPERUSER PASSWORD 'test-password'`);
    const clients = [url, url.replace('postgres:test', 'urgent:test')].map(
      (connectionString) => new pg.Client({ connectionString }),
    );
    const pids: number[] = [];
    for (const client of clients) {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      pids.push(...rows.map(({ pid }) => pid));
    }
    const weighsSessions = existsSync('/proc/self/autogroup');
    const nicenessOf = (pid: number): (number | string)[] => [
      getPriority(pid),
      weighsSessions
        ? readFileSync(`/proc/${pid}/autogroup`, 'utf8').trim().split(' ').slice(1).join(' ')
        : '',
    ];
    const own = (value: number): (number | string)[] => [value, weighsSessions ? `nice ${value}` : ''];
    await waitUntilReady(child, () => Promise.resolve(getPriority(pids[0] as number) === 10), 10);
    expect(pids.map(nicenessOf)).toEqual([own(10), own(0)]);
    for (const client of clients) await client.end();
    await child.stop(10_000);
  }, 60_000);

  it('says what the server said when it cannot start', async () => {
    const settings = await options('broken');
    const { child } = await startPostgres(settings);
    await child.stop(10_000);
    rmSync(join(settings.folder, 'global', 'pg_control'));
    await expect(startPostgres(settings)).rejects.toThrow(/ended while it was starting[^]*pg_control/);
  }, 60_000);
});

describe('startKafka', () => {
  it('starts, answers clients, starts again on the same data, and ends an orphan', async () => {
    const settings = {
      folder: join(folder, 'kafka'),
      port: await freePort(),
      controllerPort: await freePort(),
      log: join(folder, 'kafka.log'),
      cache,
      guardian,
    };
    const first = await startKafka(settings);
    expect(await brokerAnswers('127.0.0.1', settings.port)).toBe(true);
    expect(commandLine(first.child.pid)).toContain('kafka.Kafka');
    const second = await startKafka(settings);
    expect(first.child.running).toBe(false);
    process.kill(second.child.pid, 'SIGKILL');
    await second.child.ended;
    const third = await startKafka(settings);
    await third.child.stop(10_000);
    expect(await brokerAnswers('127.0.0.1', settings.port)).toBe(false);
  }, 120_000);
});

describe('in a folder whose name has an accent, a quote, a comma and two spaces', () => {
  const odd = (): string => join(folder, `l'été  de "Zoë", ñ`);
  const settingsOf = async (name: string) => ({
    folder: join(odd(), name, 'data'),
    port: await freePort(),
    log: join(odd(), `${name}.log`),
    guardian,
  });

  it('PostgreSQL starts, and starts again', async () => {
    const settings = { ...(await settingsOf('postgres')), password: 'test-password', durable: false };
    const first = await startPostgres(settings);
    await query(first.url, 'create table kept (n int)');
    const second = await startPostgres(settings);
    expect(first.child.running).toBe(false);
    expect(await query(second.url, 'select * from kept')).toEqual([]);
    await second.child.stop(10_000);
  }, 60_000);

  it('Kafka starts, with its jars there', async () => {
    const own = join(odd(), 'cache');
    mkdirSync(odd(), { recursive: true });
    symlinkSync(cache, own);
    const settings = { ...(await settingsOf('kafka')), controllerPort: await freePort(), cache: own };
    const first = await startKafka(settings);
    expect(existsSync(join(settings.folder, 'logs', 'meta.properties'))).toBe(true);
    expect(commandLine(first.child.pid)).toContain(settings.folder);
    await first.child.stop(10_000);
  }, 120_000);

  it('a guardian removes that very folder', async () => {
    const temporary = join(odd(), 'temporary');
    mkdirSync(temporary, { recursive: true });
    const own = new Guardian();
    own.removeAtEnd(temporary);
    await own.release();
    expect(existsSync(temporary)).toBe(false);
  });
});

describe('Guardian', () => {
  it('ends what it guards, in two stages, when its parent is killed with -9', async () => {
    const report = join(folder, 'guarded.txt');
    const parent = spawn(process.execPath, [join(import.meta.dirname, 'guardian.fixture.ts'), report], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pids = await new Promise<number[]>((done) =>
      parent.stdout.once('data', (line: Buffer) => done(JSON.parse(line.toString()) as number[])),
    );
    expect(pids).toHaveLength(2);
    parent.kill('SIGKILL');
    const deadline = Date.now() + 15_000;
    while (pids.some((pid) => commandLine(pid) !== undefined)) {
      if (Date.now() > deadline) throw new Error('What it guarded goes on');
      await new Promise((wait) => setTimeout(wait, 50));
    }
    expect(readFileSync(report, 'utf8')).toBe('app\nservice\n');
  }, 30_000);
});
