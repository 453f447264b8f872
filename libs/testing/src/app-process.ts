import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inTurn } from './advisory-lock.js';
import { promisify } from 'node:util';

/** The checkout that the tests run from. */
export const WORKSPACE = resolve(import.meta.dirname, '../../..');

const READY_WITHIN_MS = 120_000;
const END_WITHIN_MS = 12_000;
/** What a test run marks its processes with, so that none is left behind unseen. */
const RUN_MARK = 'CUSTOMER_PLATFORM_TEST_RUN';

/** What every program gets of the environment: it finds others, and what V8 has compiled of the same code before. */
function passedOn(): Record<string, string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...(PATH ? { PATH } : {}), ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}) };
}

/** Tells a program that its standard input says whether the process that started it is there; its own children are not told. */
const WATCHES_PARENT = 'CUSTOMER_PLATFORM_TEST_PARENT';
/** Ends a program with the process that started it, however that ends: the system closes its standard input then. */
const ENDS_WITH_ITS_PARENT = `data:text/javascript,${encodeURIComponent(`
if (process.env.${WATCHES_PARENT}) {
  delete process.env.${WATCHES_PARENT};
  process.stdin.once('close', () => process.kill(process.pid, 'SIGKILL')).resume().unref();
}`)}`;

/** A program of the platform as a process of its own. */
export class AppProcess {
  private output = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;

  constructor(
    readonly name: string,
    script: string,
    env: Record<string, string>,
    private readonly readyUrl: string,
  ) {
    const mark = process.env[RUN_MARK];
    this.child = spawn(process.execPath, ['--import', ENDS_WITH_ITS_PARENT, join(WORKSPACE, script)], {
      cwd: WORKSPACE,
      env: { ...passedOn(), ...(mark ? { [RUN_MARK]: mark } : {}), ...env, [WATCHES_PARENT]: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.ended = new Promise((done) => this.child.once('exit', () => done()));
  }

  /** To look at what it uses; undefined where it could not be started. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Whether it has not ended yet. */
  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Everything the process has written so far. */
  get log(): string {
    return this.output;
  }

  /** Resolves when it serves; throws with what it wrote if it ends instead, or takes too long. */
  async ready(): Promise<void> {
    const giveUpAt = performance.now() + READY_WITHIN_MS;
    let reason = '';
    while (this.child.exitCode === null && performance.now() < giveUpAt) {
      try {
        const answer = await fetch(this.readyUrl);
        reason = await answer.text();
        if (answer.status === 200) return;
      } catch (error) {
        reason = String(error);
      }
      await pause(100);
    }
    throw new Error(`${this.name} does not serve (${reason}):\n${this.output.slice(-4_000)}`);
  }

  /** Kills the process as a crash would. */
  async crash(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Ends the process in order, or by force if it takes too long. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), END_WITHIN_MS);
    await this.ended;
    clearTimeout(late);
  }
}

/** Where what is fetched once is kept; told at run time, as the program that knows is no library. */
export async function cacheFolder(): Promise<string> {
  const { href } = pathToFileURL(join(WORKSPACE, 'infra/kit/cache.mjs'));
  return ((await import(href)) as { cacheFolder: () => string }).cacheFolder();
}

/** Brings every app's and library's built code up to its sources; costs nothing where it is. */
export function buildAll(): Promise<void> {
  return inTurn('a build', build);
}

async function build(): Promise<void> {
  const builder = pathToFileURL(join(WORKSPACE, 'infra/local/platform/build.ts')).href;
  const script = `await (await import(${JSON.stringify(builder)})).build()`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: WORKSPACE,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

/** Runs a script of an app to its end and returns what it printed. */
export async function runScript(
  script: string,
  args: string[],
  env: Record<string, string>,
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(WORKSPACE, script), ...args], {
    cwd: WORKSPACE,
    env: { ...passedOn(), ...env },
  });
  return stdout;
}

/** Ports that are free now, each another, and no other process's. */
export async function freePorts(count: number): Promise<number[]> {
  const { href } = pathToFileURL(join(WORKSPACE, 'infra/kit/ports.ts'));
  const { freePort } = (await import(href)) as { freePort: () => Promise<number> };
  return Promise.all(Array.from({ length: count }, freePort));
}
