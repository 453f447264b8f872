import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import {
  databaseConfig,
  encryptionConfig,
  importBucketConfig,
  importFilesConfig,
  keyringOf,
  readConfig,
} from '@customer-platform/config';
import { type Installation, KeySeal } from '@customer-platform/database';
import { FileStore, type NewFile } from './file-store.js';
import { FolderStore } from './folder-store.js';
import { BLOCK_BYTES, FileDamaged, newFileKey, openBlock, placeOfBlock, sealBlock } from './sealed-blocks.js';

/** A file that was left alone for a while. */
export interface LeftFile {
  readonly id: string;
  remove(): Promise<void>;
}

/** What an import keeps of its file: with it, and with nothing else, the file can be read. */
export interface ImportFile {
  readonly organizationId: string;
  readonly id: string;
  /** Sealed, bound to organization and import. */
  readonly key: string;
  /** Of its content. */
  readonly bytes: number;
}

/** Where keys of files are sealed; for the command that seals them anew. */
export const FILE_KEYS = 'core import files';

/** To what the key of an import's file is bound. */
export function placeOfKey(organizationId: string, id: string): string {
  return `${organizationId}\nimports\n${id}`;
}

/**
 * The files of imports, sealed block by block under a key of each file, which the import keeps, sealed itself, and
 * forgets when it ends: what is then still left of a file, on a disk or in a backup, cannot be read by anybody.
 */
@Injectable()
export class ImportFiles {
  private readonly seal: KeySeal;

  constructor(private readonly store: FileStore) {
    this.seal = new KeySeal(keyringOf(readConfig(encryptionConfig)), FILE_KEYS);
  }

  /** A new file of an import that is to be. */
  async create(organizationId: string, id: string): Promise<SealedFile> {
    const key = newFileKey();
    const sealedKey = this.seal.seal(placeOfKey(organizationId, id), key.toString('base64'));
    return new SealedFile(await this.store.create(id), key, sealedKey);
  }

  /**
   * The content from a place on, block by block.
   * @throws FileMissing where this process does not see it, FileDamaged
   */
  async *read(
    { organizationId, id, key: sealedKey, bytes }: ImportFile,
    from: number,
  ): AsyncGenerator<Buffer> {
    const key = this.keyOf(organizationId, id, sealedKey);
    for (let at = from; at < bytes;) {
      const index = Math.floor(at / BLOCK_BYTES);
      const { from: place, length } = placeOfBlock(index);
      const block = openBlock(key, index, await this.store.read(id, place, length));
      const plain = block.subarray(at - index * BLOCK_BYTES);
      if (plain.length === 0) throw new FileDamaged('The file is shorter than it was');
      at += plain.length;
      yield plain;
    }
  }

  remove(id: string): Promise<void> {
    return this.store.remove(id);
  }

  /** The ids of imports whose files, finished or not, were left alone for so long, each with what to remove it by. */
  async leftSince(before: Date): Promise<LeftFile[]> {
    const files = await this.store.list();
    return files
      .filter(({ changedAt }) => changedAt < before)
      .map(({ name }) => ({ id: name.split('.')[0] ?? name, remove: () => this.store.remove(name) }));
  }

  private keyOf(organizationId: string, id: string, sealed: string): Buffer {
    return Buffer.from(this.seal.open(placeOfKey(organizationId, id), sealed), 'base64');
  }
}

/** The store that the environment names; the client of S3 is loaded where that is a bucket. @throws ConfigError */
export async function configuredStore(installation: Installation): Promise<FileStore> {
  const { IMPORT_STORAGE: storage, IMPORT_DIRECTORY: folder } = readConfig(importFilesConfig);
  if (storage !== 's3') return new FolderStore(folder ?? ownFolder());
  const bucket = readConfig(importBucketConfig);
  const { BucketStore } = await import('./bucket-store.js');
  return new BucketStore(bucket, installation);
}

/** Of this installation alone, whose others on the machine know nothing of its imports: all with the same database. */
function ownFolder(): string {
  const { DATABASE_URL: url } = readConfig(databaseConfig);
  const { host, pathname } = new URL(url);
  const name = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16);
  return join(tmpdir(), `customer-platform-imports-${name}`);
}

/** A file that is being taken: what is written to it lies sealed. */
export class SealedFile {
  private readonly block = Buffer.allocUnsafe(BLOCK_BYTES);
  private filled = 0;
  private index = 0;

  constructor(
    private readonly file: NewFile,
    private readonly key: Buffer,
    /** As the import keeps it. */
    readonly sealedKey: string,
  ) {}

  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.copy(this.block, this.filled, at);
      at += taken;
      this.filled += taken;
      if (this.filled === BLOCK_BYTES) await this.flush();
    }
  }

  async finish(): Promise<void> {
    if (this.filled > 0) await this.flush();
    await this.file.finish();
  }

  abandon(): Promise<void> {
    return this.file.abandon();
  }

  private async flush(): Promise<void> {
    const plain = this.block.subarray(0, this.filled);
    await this.file.write(sealBlock(this.key, this.index, plain));
    this.index += 1;
    this.filled = 0;
  }
}
