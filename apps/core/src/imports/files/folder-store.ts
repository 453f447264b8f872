import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { BoundedCalls } from './bounded-calls.js';
import { FileMissing, FileStore, UNFINISHED, type NewFile, type StoredFile } from './file-store.js';

/** Of the four threads that a process has for files and names of hosts. */
const PLACES = 2;
/** A reader holds the row of its import, and PostgreSQL ends a transaction that has been idle for 30 s. */
const PATIENCE_MS = 15_000;
/** So much is brought to the disk at once, so that the end of a large file takes no longer than its parts. */
const SYNC_BYTES = 4 * 1024 * 1024;

/** Files in a folder of the machine, or one that several machines share. */
export class FolderStore extends FileStore {
  private readonly calls = new BoundedCalls(PLACES, PATIENCE_MS);

  constructor(private readonly folder: string) {
    super();
  }

  create(name: string): Promise<NewFile> {
    // A file that comes late is nobody's: it is closed, and nothing is left of it.
    return this.calls.run(() => this.open(name), { take: (file) => file.leave() });
  }

  read(name: string, from: number, length: number): Promise<Buffer> {
    return this.calls.run(() => this.readAt(name, from, length));
  }

  remove(name: string): Promise<void> {
    return this.calls.run(() => rm(join(this.folder, name), { force: true }));
  }

  list(): Promise<StoredFile[]> {
    return this.calls.run(() => this.describeAll());
  }

  private async open(name: string): Promise<FolderFile> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, name);
    const unfinished = `${path}${UNFINISHED}`;
    const file = await open(unfinished, 'wx', 0o600);
    return new FolderFile(this.calls, file, unfinished, path, this.folder);
  }

  private async readAt(name: string, from: number, length: number): Promise<Buffer> {
    const file = await this.found(name);
    // Without a cause: to whoever reads errors of connections, the system's code for it is one of these.
    if (!file) throw new FileMissing('The file is not in the folder of imports');
    try {
      const into = Buffer.allocUnsafe(length);
      let read = 0;
      while (read < length) {
        const { bytesRead } = await file.read(into, read, length - read, from + read);
        if (bytesRead === 0) break;
        read += bytesRead;
      }
      return into.subarray(0, read);
    } finally {
      await file.close();
    }
  }

  private async describeAll(): Promise<StoredFile[]> {
    let names: string[];
    try {
      names = await readdir(this.folder);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
    const files: StoredFile[] = [];
    // One after the other: together they would take all threads.
    for (const name of names) {
      const file = await this.describe(name);
      if (file) files.push(file);
    }
    return files;
  }

  private async found(name: string): Promise<FileHandle | undefined> {
    try {
      return await open(join(this.folder, name), 'r');
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  private async describe(name: string): Promise<StoredFile | undefined> {
    try {
      return { name, changedAt: (await stat(join(this.folder, name))).mtime };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }
}

class FolderFile implements NewFile {
  private closed = false;
  private unsynced = 0;

  constructor(
    private readonly calls: BoundedCalls,
    private readonly file: FileHandle,
    private readonly unfinished: string,
    private readonly path: string,
    private readonly folder: string,
  ) {}

  write(bytes: Buffer): Promise<void> {
    return this.calls.run(async () => {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await this.file.write(bytes, written);
        written += bytesWritten;
      }
      this.unsynced += written;
      if (this.unsynced < SYNC_BYTES) return;
      await this.file.datasync();
      this.unsynced = 0;
    });
  }

  /** The content is on the disk before the name is, and the name before anybody is told of it. */
  finish(): Promise<void> {
    return this.calls.run(() => this.keep());
  }

  abandon(): Promise<void> {
    return this.calls.run(() => this.leave(), { begin: true });
  }

  /** As `abandon`, for whoever has a place among the calls. */
  async leave(): Promise<void> {
    try {
      await this.close();
    } finally {
      await rm(this.unfinished, { force: true });
    }
  }

  private async keep(): Promise<void> {
    await this.file.sync();
    await this.close();
    await rename(this.unfinished, this.path);
    const folder = await open(this.folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  private async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.file.close();
  }
}

function isAbsent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
