import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The command line of a running process, undefined when there is none (or it is another user's). */
export function commandLine(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self')) {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return text === '' ? undefined : text;
    }
    const text = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined; // no such process
  }
}

/** Ends `pid` if it still is the process that `mark` in its command line tells; a number may have been given anew. */
export async function endOrphan(pid: number, mark: string, signal: NodeJS.Signals): Promise<boolean> {
  if (!isStill(pid, mark)) return false;
  send(pid, signal);
  const deadline = Date.now() + 8_000;
  while (isStill(pid, mark)) {
    if (Date.now() > deadline) send(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}

function isStill(pid: number, mark: string): boolean {
  return commandLine(pid)?.includes(mark) ?? false;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may have ended in between, which is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
