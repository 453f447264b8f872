import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Marks every process this run starts, however far down, so that none can be left behind unseen. */
const mark = `CUSTOMER_PLATFORM_TEST_RUN=${randomUUID()}`;
const running = new Set<ChildProcess>();

/** How a child process ended and what it said. */
interface Ended {
  status: number | null;
  output: string;
  /** Seconds of processor time of the command and of all that it has waited for. */
  processor: number;
}

/** Runs a command and tells on a channel of the shell's own what it used, which no process can ask of another. */
const WITH_TIMES = '"$@" 3>&-; status=$?; times >&3; exit $status';
const TIMES = 3;

/** Runs a command in a process group of its own. Its output is collected, or shown as it comes. */
export function run(
  command: string,
  args: string[],
  options: { show?: boolean; env?: Record<string, string> } = {},
): Promise<Ended> {
  const [name = '', value] = mark.split('=');
  const { FORCE_COLOR: _color, ...environment } = process.env;
  const shown = options.show ? 'inherit' : 'pipe';
  const child = spawn('sh', ['-c', WITH_TIMES, 'sh', command, ...args], {
    detached: true,
    stdio: ['ignore', shown, shown, 'pipe'],
    env: { ...environment, ...options.env, [name]: value, NX_DAEMON: 'false', NO_COLOR: '1' },
  });
  running.add(child);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  let times = '';
  child.stdio[TIMES]?.on('data', (chunk: Buffer) => (times += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      running.delete(child);
      resolve({
        status,
        output: Buffer.concat(chunks).toString('utf8').trim(),
        processor: secondsOfChildren(times),
      });
    });
  });
}

/** Reads the shell's second line, as in `1m2.50s 0m3.25s`: user and system time of what it has run. */
function secondsOfChildren(times: string): number {
  const [, children = ''] = times.split('\n');
  let sum = 0;
  for (const [, minutes, seconds] of children.matchAll(/(\d+)m([\d.]+)s/g))
    sum += Number(minutes) * 60 + Number(seconds);
  return sum;
}

/** Passes a signal to every child, with all it started in its group. */
export function signalChildren(signal: NodeJS.Signals): void {
  for (const { pid } of running) if (pid !== undefined) killQuietly(-pid, signal);
}

function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: gone by itself meanwhile
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process ended between the listing and the reading
  }
}

/** Processes started by this run that are still alive, as "pid command". Linux only; elsewhere none is found. */
function survivors(): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter(
      (pid) =>
        read(`/proc/${pid}/environ`).includes(mark) && !/^\d+ \(.*\) Z /.test(read(`/proc/${pid}/stat`)),
    )
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }));
}

/** Waits for what this run started to be gone; kills and names what is not within `within` milliseconds. */
export async function endSurvivors(within = 10_000): Promise<string[]> {
  const deadline = Date.now() + within;
  let left = survivors();
  while (left.length > 0 && Date.now() < deadline) {
    await pause(100);
    left = survivors();
  }
  for (const { pid } of left) killQuietly(pid, 'SIGKILL');
  return left.map(({ pid, command }) => `${pid} ${command}`);
}
