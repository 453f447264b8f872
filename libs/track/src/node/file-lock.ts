import { readFileSync } from 'node:fs';
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** Another process, or this one, has the queue open. */
export class QueueInUseError extends Error {
  constructor(readonly file: string) {
    super(`The queue ${file} is in use: each process needs one of its own.`);
    this.name = 'QueueInUseError';
  }
}

interface Holder {
  pid: number;
  host: string;
  /** When the process began, as the system counts: a number that was given to another process is not the holder. */
  began: string;
  released?: boolean;
}

const BEAT_MS = 10_000;
/** A holder on another machine, or in another container, that has not been heard of for so long is gone. */
const GONE_AFTER_MS = 3 * BEAT_MS;

const heldHere = new Set<string>();

/**
 * Takes the lock of a file until it is released or this process ends, however it ends.
 *
 * Each holder makes a lock file with the next number, which only one can make. The one with the highest number always
 * stays, so that whoever looked before and was slow finds a higher one than its own: no lock of a process that is gone
 * can be taken over by two.
 * @returns what releases it
 * @throws QueueInUseError
 */
export async function lockFile(file: string): Promise<() => Promise<void>> {
  const path = resolve(file);
  if (heldHere.has(path)) throw new QueueInUseError(path);
  heldHere.add(path);
  try {
    const own = await takeTurn(path);
    const beat = setInterval(() => void touch(own), BEAT_MS).unref();
    return async () => {
      clearInterval(beat);
      // A full disk has no room to say so, but in the file's time; where that fails as well it is held until this ends.
      const released = write(own, { ...self(), released: true }, rename).catch(() => utimes(own, 0, 0));
      await Promise.allSettled([released]);
      heldHere.delete(path);
    };
  } catch (error) {
    heldHere.delete(path);
    throw error;
  }
}

/** Each is another process that took the file in the same moment. */
const TURNS = 100;

async function takeTurn(path: string): Promise<string> {
  for (let left = TURNS; left > 0; left -= 1) {
    const highest = Math.max(0, ...(await numbers(path)));
    if (highest > 0 && (await isHeld(nth(path, highest)))) throw new QueueInUseError(path);
    const own = nth(path, highest + 1);
    if (!(await write(own, self(), link))) continue;
    const others = (await numbers(path)).filter((number) => number !== highest + 1);
    if (others.some((number) => number > highest)) {
      await rm(own, { force: true });
      continue;
    }
    for (const number of others) await rm(nth(path, number), { force: true });
    return own;
  }
  throw new QueueInUseError(path);
}

const nth = (path: string, number: number): string => `${path}.lock.${number}`;

async function numbers(path: string): Promise<number[]> {
  const prefix = `${basename(path)}.lock.`;
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
}

/** Puts a whole file in its place at once. @returns whether it was free, where `place` asks for that */
async function write(own: string, holder: Holder, place: typeof link): Promise<boolean> {
  const draft = join(dirname(own), `.${basename(own)}.${process.pid}.${Math.random().toString(36).slice(2)}`);
  try {
    await writeFile(draft, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    await place(draft, own);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

const self = (): Holder => ({ pid: process.pid, host: hostname(), began: beginOf(process.pid) ?? '' });

async function isHeld(lock: string): Promise<boolean> {
  try {
    const holder = JSON.parse(await readFile(lock, 'utf8')) as Holder;
    const { mtimeMs } = await stat(lock);
    if (holder.released || mtimeMs === 0) return false;
    if (holder.host !== hostname()) return Date.now() - mtimeMs < GONE_AFTER_MS;
    // Held by this very process it would be among those held here: a container's processes have the same numbers again.
    if (holder.pid === process.pid || !isRunning(holder.pid)) return false;
    const began = beginOf(holder.pid);
    return began === undefined || began === holder.began;
  } catch (error) {
    // Somebody has taken the next number and removed this one.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Whoever may not ask learns nothing: only this answer says that it has ended.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** When a process began, in the system's ticks; `gone` if it has ended and nobody asked how; undefined where one cannot tell. */
function beginOf(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold anything; the fields after it are proc(5)'s third and following.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'gone' : fields[19];
  } catch {
    return undefined;
  }
}

/** @returns whether it could: where not, the next who asks on another machine will take the lock for left */
function touch(lock: string): Promise<boolean> {
  const now = new Date();
  return utimes(lock, now, now).then(
    () => true,
    () => false,
  );
}
