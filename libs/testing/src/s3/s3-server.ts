import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cacheFolder, freePorts } from '../app-process.js';

const VERSION = 'v1.2.0';
const MODULE = `github.com/johannesboyne/gofakes3/cmd/gofakes3@${VERSION}`;
const BUILT_WITHIN_MS = 570_000;
const READY_WITHIN_MS = 30_000;
const BUCKET = 'files';

/** A storage that speaks S3, of a spec file's own, with one empty bucket. It looks at no signature. */
export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** kill -STOP: it is there and answers nothing. */
  freeze(): void;
  /** Goes on after `freeze`. */
  thaw(): void;
  /** Ends it and removes what it kept. */
  stop(): Promise<void>;
}

/** Starts a storage in memory, on a free port; Go builds it once, in half a minute. */
export async function startS3(): Promise<S3Server> {
  const program = await builtProgram();
  const [port = 0] = await freePorts(1);
  const account = { accessKeyId: 'test', secretAccessKey: 'a secret of tests' };
  const address = `127.0.0.1:${String(port)}`;
  const region = 'us-east-1';
  const child = spawn(program, ['-backend', 'memory', '-initialbucket', BUCKET, '-host', address, '-quiet'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const endpoint = `http://${address}`;
  await serving(child, endpoint);
  return {
    endpoint,
    region,
    bucket: BUCKET,
    ...account,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    stop: async () => {
      const gone = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null) {
        kill();
        await gone;
      }
    },
  };
}

async function serving(child: ChildProcess, endpoint: string): Promise<void> {
  let output = '';
  let reason = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  for (const giveUpAt = performance.now() + READY_WITHIN_MS; performance.now() < giveUpAt; await pause(50)) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    try {
      const answer = await fetch(endpoint);
      await answer.arrayBuffer();
      return;
    } catch (error) {
      reason = String(error);
    }
  }
  child.kill('SIGKILL');
  throw new Error(`The storage does not serve (${reason}):\n${output}`);
}

/** The program, built once for each version. */
async function builtProgram(): Promise<string> {
  const folder = join(await cacheFolder(), `gofakes3-${VERSION}`);
  const program = join(folder, 'gofakes3');
  if (existsSync(program)) return program;
  const draft = `${folder}.${String(process.pid)}`;
  mkdirSync(draft, { recursive: true });
  const go = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go';
  await promisify(execFile)(go, ['install', MODULE], {
    env: { ...process.env, GOBIN: draft, GOFLAGS: '-mod=mod' },
    timeout: BUILT_WITHIN_MS,
  });
  // Another test may have been first; its copy is as good.
  if (existsSync(program)) rmSync(draft, { recursive: true });
  else renameSync(draft, folder);
  return program;
}
