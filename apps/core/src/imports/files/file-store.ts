import type { MarkedPlace } from '@customer-platform/database';

/** A file as it lies in a store. */
export interface StoredFile {
  readonly name: string;
  /** When it was written last. */
  readonly changedAt: Date;
}

/** What the name of a file ends with in a list, where it was never finished. */
export const UNFINISHED = '.part';

/** A file that is being written; nobody finds it before `finish`. */
export interface NewFile {
  write(bytes: Buffer): Promise<void>;
  /** Resolves when it is safely stored. */
  finish(): Promise<void>;
  /** Leaves nothing of it. */
  abandon(): Promise<void>;
}

/**
 * Where the files of imports lie until they are read. All instances of the module that carry out imports must see what
 * any of them has taken. It knows nothing of what it keeps: bytes come sealed, and are read from any place on.
 */
export abstract class FileStore {
  /** The place where it is marked as one installation's; undefined where no other could be led there. */
  get place(): MarkedPlace | undefined {
    return undefined;
  }

  abstract create(name: string): Promise<NewFile>;
  /**
   * So many bytes from a place on, fewer where the file ends.
   * @throws FileMissing
   */
  abstract read(name: string, from: number, length: number): Promise<Buffer>;
  /** Succeeds where there is none. */
  abstract remove(name: string): Promise<void>;
  /** All files, those included that were never finished. */
  abstract list(): Promise<StoredFile[]>;
}

/**
 * The store cannot be used now, or does not answer in time. It has no cause: to whoever reads errors of connections, the
 * system's code in it would be one of the database's.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** The store has no such file, as far as this process sees it. */
export class FileMissing extends Error {
  override readonly name = 'FileMissing';
}
