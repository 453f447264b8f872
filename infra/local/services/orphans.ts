import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const KILLED_WITHIN_MS = 10_000;

/** The command line of a running process, undefined when there is none (or it is another user's). */
export function commandLine(pid: number, proc = existsSync('/proc/self')): string | undefined {
  try {
    const text = proc ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') : psLine(pid);
    return text.trim() || undefined;
  } catch {
    return undefined; // no such process
  }
}

/** Without -ww, ps cuts at the width of the terminal, or at 79 columns; without UTF-8 it spells an accent its own way. */
function psLine(pid: number): string {
  const env = { ...process.env, LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8' };
  return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8', env });
}

/**
 * Who has a number that was written down for a `program` on a `folder`. `unclear`: one of this name whose command line
 * does not tell the folder, or one whose command line is hidden.
 */
export function whoIs(pid: number, program: string, folder: string): 'gone' | 'ours' | 'another' | 'unclear' {
  if (!lives(pid)) return 'gone';
  const line = commandLine(pid);
  if (line?.includes(folder)) return 'ours';
  return line === undefined || line.includes(program) ? 'unclear' : 'another';
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another user's
  }
}

/** Ends `pid` if it still is the process that `mark` in its command line tells; a number may have been given anew. */
export async function endOrphan(pid: number, mark: string, signal: NodeJS.Signals): Promise<boolean> {
  if (!isStill(pid, mark)) return false;
  send(pid, signal);
  const deadline = Date.now() + 8_000;
  while (isStill(pid, mark)) {
    if (Date.now() > deadline) send(pid, 'SIGKILL');
    if (Date.now() > deadline + KILLED_WITHIN_MS)
      throw new Error(`Process ${pid} of a former start does not end: end it, then start again.`);
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
