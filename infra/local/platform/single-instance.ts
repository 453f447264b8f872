import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { commandLine } from '../services/orphans.ts';
import type { DataFolder } from './data-folder.ts';

/** In the command line of every process that holds a folder. */
const MARK = 'infra/local/start';

/**
 * Takes the folder for this process; two platforms on one folder would destroy it.
 * @returns what gives it back.
 * @throws Error of one sentence while another start has it.
 */
export function takeFolder(data: DataFolder, pid = process.pid): () => void {
  const file = data.file('supervisor.pid');
  const mine = `${file}.${pid}`;
  writeFileSync(mine, String(pid), { mode: 0o600 });
  try {
    while (!linked(mine, file)) removeStale(data, file, pid);
  } finally {
    rmSync(mine, { force: true });
  }
  return () => rmSync(file, { force: true });
}

/** A link appears with its content at once or not at all. */
function linked(mine: string, file: string): boolean {
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Removes the lock of a process that was killed, and no other: another start may have taken it meanwhile. */
function removeStale(data: DataFolder, file: string, pid: number): void {
  const holder = readHolder(file);
  if (holder === undefined) return;
  if (holder !== pid && commandLine(holder)?.includes(MARK)) {
    throw new Error(
      `The platform is running already (process ${holder}, ${data.path}): use it, or stop it first with Ctrl-C or "kill ${holder}".`,
    );
  }
  const aside = `${file}.stale.${pid}`;
  renameSync(file, aside);
  if (readHolder(aside) !== holder) linked(aside, file);
  rmSync(aside, { force: true });
}

function readHolder(file: string): number | undefined {
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined;
}
