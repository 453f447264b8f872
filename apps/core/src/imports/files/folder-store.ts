import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { FileMissing, FileStore, type NewFile, type StoredFile } from './file-store.js';

/** Of a file that is not finished. */
const UNFINISHED = '.part';

/** Files in a folder of the machine, or one that several machines share. */
export class FolderStore extends FileStore {
  constructor(private readonly folder: string) {
    super();
  }

  async create(name: string): Promise<NewFile> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, name);
    const unfinished = `${path}${UNFINISHED}`;
    return new FolderFile(await open(unfinished, 'wx', 0o600), unfinished, path, this.folder);
  }

  async read(name: string, from: number, length: number): Promise<Buffer> {
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

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { force: true });
  }

  async list(): Promise<StoredFile[]> {
    let names: string[];
    try {
      names = await readdir(this.folder);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
    const files = await Promise.all(names.map((name) => this.describe(name)));
    return files.filter((file) => file !== undefined);
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

  constructor(
    private readonly file: FileHandle,
    private readonly unfinished: string,
    private readonly path: string,
    private readonly folder: string,
  ) {}

  async write(bytes: Buffer): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.file.write(bytes, written);
      written += bytesWritten;
    }
  }

  /** The content is on the disk before the name is, and the name before anybody is told of it. */
  async finish(): Promise<void> {
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

  async abandon(): Promise<void> {
    try {
      await this.close();
    } finally {
      await rm(this.unfinished, { force: true });
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
