import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { bytesOf, type QueuedEvent } from '../event.js';
import type { Kept, Store } from '../store.js';

/** A file with less than this that nobody needs is not written anew. */
const COMPACT_FROM_BYTES = 2 ** 20;

interface Write {
  readonly text: string;
  /** Whether somebody waits for it to be on the disk: what was removed may come back, since its key makes it one. */
  readonly sync: boolean;
  readonly done: (written: boolean) => void;
}

/**
 * A queue in a file that is only appended to: a line for each event, and one for each group of events that left. Every
 * line has its checksum. What waits while a write is on its way shares the next one, and its fsync.
 */
export class FileStore implements Store {
  bytes = 0;
  /** Lines that were there and could not be read, but for a last one that was being written when the process ended. */
  readonly damaged: number;
  private readonly events: Map<string, QueuedEvent>;
  private readonly waiting: Write[] = [];
  private writing: Promise<void> | undefined;
  private fileBytes = 0;
  private compactAt = COMPACT_FROM_BYTES;
  /** After a write that failed half-way the next line begins on a line of its own. */
  private before = '';

  private constructor(
    private readonly path: string,
    private readonly fsync: boolean,
    content: string,
    private file: FileHandle,
  ) {
    const { events, damaged } = read(content);
    this.events = events;
    this.damaged = damaged;
    for (const { text } of events.values()) this.bytes += bytesOf(text);
  }

  /** Reads what an earlier process has left. The caller holds the file's lock. */
  static async open(path: string, fsync: boolean): Promise<FileStore> {
    const file = await openQueue(path);
    let store: FileStore | undefined;
    try {
      const content = await file.readFile('utf8');
      store = new FileStore(path, fsync, content, file);
      store.fileBytes = bytesOf(content);
      // Begins with whole lines: what is appended to half a line would be lost with it. Where there is no room for them,
      // with an empty one.
      if (!(await store.tryToCompact())) store.before = '\n';
      return store;
    } catch (error) {
      await (store?.file ?? file).close();
      throw error;
    }
  }

  get count(): number {
    return this.events.size;
  }

  async add(event: QueuedEvent): Promise<Kept> {
    this.events.set(event.id, event);
    this.bytes += bytesOf(event.text);
    return (await this.append(added(event), true)) ? 'stored' : 'memory';
  }

  list(): QueuedEvent[] {
    return [...this.events.values()];
  }

  remove(ids: readonly string[]): void {
    const gone = ids.filter((id) => {
      this.bytes -= bytesOf(this.events.get(id)?.text ?? '');
      return this.events.delete(id);
    });
    if (gone.length > 0) void this.append(line(`-${gone.join(' ')}`), false);
  }

  /** Resolves when all is written and the file is closed. */
  async close(): Promise<void> {
    await this.writing;
    await this.file.close();
  }

  private append(text: string, sync: boolean): Promise<boolean> {
    return new Promise((done) => {
      this.waiting.push({ text, sync, done });
      this.writing ??= this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0);
      const written = await this.write(
        group.map(({ text }) => text).join(''),
        group.some(({ sync }) => sync),
      );
      for (const { done } of group) done(written);
      if (this.fileBytes > this.compactAt && this.fileBytes > 2 * this.bytes) await this.tryToCompact();
    }
    this.writing = undefined;
  }

  private async write(text: string, sync: boolean): Promise<boolean> {
    try {
      await this.file.appendFile(this.before + text);
      if (sync && this.fsync) await this.file.datasync();
      this.before = '';
      this.fileBytes += bytesOf(text);
      return true;
    } catch {
      // The disk is full, or gone: the events stay in memory, and whoever added them is told so.
      this.before = '\n';
      return false;
    }
  }

  /** @returns whether it could */
  private async tryToCompact(): Promise<boolean> {
    try {
      await this.compact();
      return true;
    } catch {
      // No room for a second file. The first one serves; not at each write anew.
      this.compactAt = Math.max(COMPACT_FROM_BYTES, 2 * this.fileBytes);
      return false;
    }
  }

  /** Writes what is queued into a new file, and puts that in the old one's place when it is on the disk. */
  private async compact(): Promise<void> {
    const text = this.list().map(added).join('');
    const draft = `${this.path}.new`;
    // Made anew: one that lies there may lead elsewhere, or be readable for others.
    await rm(draft, { force: true });
    const next = await open(draft, 'wx', 0o600);
    try {
      await next.appendFile(text).then(() => next.sync());
    } catch (error) {
      // Half of it would take from a full disk the room that the first file needs; an open one Windows does not remove.
      await next.close();
      await rm(draft, { force: true });
      throw error;
    }
    await next.close();
    // Windows moves no file into the place of one that is open.
    await this.file.close();
    try {
      await rename(draft, this.path);
    } finally {
      this.file = await openQueue(this.path);
    }
    await syncFolder(dirname(this.path));
    this.before = '';
    this.fileBytes = bytesOf(text);
    this.compactAt = COMPACT_FROM_BYTES;
  }
}

const line = (payload: string): string => `${crc32(payload).toString(16).padStart(8, '0')} ${payload}\n`;
const added = ({ id, text }: QueuedEvent): string => line(`+${id} ${text}`);

function read(content: string): { events: Map<string, QueuedEvent>; damaged: number } {
  const events = new Map<string, QueuedEvent>();
  let damaged = 0;
  const lines = content.split('\n');
  // What follows the last line break was never confirmed.
  lines.pop();
  for (const text of lines) {
    const payload = text.slice(9);
    if (text === '') continue;
    if (line(payload) !== `${text}\n`) damaged += 1;
    else if (payload.startsWith('-')) for (const id of payload.slice(1).split(' ')) events.delete(id);
    else {
      const end = payload.indexOf(' ');
      const id = payload.slice(1, end);
      events.set(id, { id, text: payload.slice(end + 1) });
    }
  }
  return { events, damaged };
}

/** Opens the file itself, not one that a link in its place leads to. Windows has no such flag: it counts as 0. */
const openQueue = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);

/** A new name is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
