import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { commandLine } from './orphans.ts';

/** Followed by the role whose connection a backend serves. */
const TITLE = 'postgres: ';
/** A second is soon enough for connections that stay, and costs nothing to look at. */
const LOOK_EVERY_MS = 1_000;
const AGAIN_AFTER_MS = 150;

/** A process that was started here. */
interface Started {
  readonly pid: number;
  readonly running: boolean;
  readonly ended: Promise<unknown>;
}

/** Lets a process leave the processors to others: 0 to 19, the nicer the more. */
export function yieldWith(child: Started, niceness: number): void {
  if (hasYielded(child.pid, niceness)) return;
  const again = setInterval(() => {
    if (!child.running || hasYielded(child.pid, niceness)) clearInterval(again);
  }, AGAIN_AFTER_MS).unref();
}

/**
 * Linux may weigh sessions before it weighs their processes (autogroup): then a priority counts only among processes of
 * one session, unless the session has it too. False where that is to be tried again: without privileges, the system
 * takes one such word in 100 ms.
 */
function hasYielded(pid: number, niceness: number): boolean {
  try {
    setPriority(pid, niceness);
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness), { flag: 'r+' });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
}

/** Does so for PostgreSQL's processes as they come, which have sessions of their own; not for backends of some roles. */
export function keepBackendsYielding(postmaster: Started, niceness: number, except: readonly string[]): void {
  let known = new Set<number>();
  const look = (): void => {
    const children = childrenOf(postmaster.pid);
    known = new Set(children.filter((pid) => known.has(pid)));
    for (const pid of children) {
      if (known.has(pid)) continue;
      const title = commandLine(pid);
      if (!title?.startsWith(TITLE)) continue; // not told yet what it is for
      const isExcepted = except.some((role) => title.startsWith(`${TITLE}${role} `));
      if (!isExcepted && !hasYielded(pid, niceness)) return;
      known.add(pid);
    }
  };
  const looking = setInterval(look, LOOK_EVERY_MS).unref();
  void postmaster.ended.then(() => clearInterval(looking));
}

/** None where the system does not tell, or the process has gone. */
function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return list.trim().split(' ').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}
