import { resolve } from 'node:path';
import { surroundings } from './environment.js';
import { lockFile } from './node/file-lock.js';
import { FileStore } from './node/file-store.js';
import { MemoryStore } from './store.js';
import { Tracker, type TrackerOptions } from './tracker.js';

// eslint-disable-next-line house/no-barrel -- the package's second entry, as index.ts is its first
export { QueueInUseError } from './node/file-lock.js';

/** How a tracker with a file is made. */
export interface FileTrackerOptions extends TrackerOptions {
  /** The queue's file, in a folder that exists. Beside it lie its lock and, for moments, its successor. */
  file: string;
  /**
   * `true` (the default): `track` resolves `stored` when the event is on the disk, and outlives the machine's power.
   * `false`: when the system has it; it outlives the process alone.
   */
  fsync?: boolean;
}

/**
 * Makes a sender whose queue is a file. Events of an earlier process that ended before they were delivered are sent first.
 * Where the disk is too full for its lock the queue is in memory, which `onFailure` is told as `queue_unwritable`.
 * @throws QueueInUseError if a process has the file open
 * @throws TypeError if `url` is no URL, or `key` no text for a header; what the file system throws, such as ELOOP if
 * `file` is a symbolic link, or ENOENT if its folder is missing
 */
export async function createFileTracker(options: FileTrackerOptions): Promise<Tracker> {
  try {
    return await openTracker({ ...BOUNDS, ...options });
  } catch (error) {
    if (!FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    const tracker = new Tracker({ ...BOUNDS, ...options }, surroundings(new MemoryStore()));
    tell(options, 'queue_unwritable');
    return tracker;
  }
}

const BOUNDS = { maxEvents: 100_000, maxBytes: 64 * 2 ** 20 };
/** No room on the disk, for this user, or for a file of this process; or a disk that fails. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

async function openTracker(options: FileTrackerOptions): Promise<Tracker> {
  const path = resolve(options.file);
  const release = await lockFile(path);
  try {
    const store = await FileStore.open(path, options.fsync ?? true);
    const close = async (): Promise<void> => {
      try {
        await store.close();
      } finally {
        await release();
      }
    };
    const tracker = new Tracker(options, { ...surroundings(store), close });
    if (store.damaged > 0) tell(options, 'queue_damaged');
    return tracker;
  } catch (error) {
    await release();
    throw error;
  }
}

function tell({ onFailure }: FileTrackerOptions, code: string): void {
  onFailure?.({ code, status: 0, retryInMs: 0 });
}
