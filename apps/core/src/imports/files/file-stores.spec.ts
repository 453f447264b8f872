import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { importBucketConfig, readConfig } from '@customer-platform/config';
import { newId } from '@customer-platform/database';
import { startS3, type S3Server } from '@customer-platform/testing';
import { jest } from '@jest/globals';
import { aFolder } from '../import.fixture.js';
import { BucketStore } from './bucket-store.js';
import { FileMissing, StorageUnavailable, type FileStore } from './file-store.js';
import { FolderStore } from './folder-store.js';
import { ImportFiles, type ImportFile } from './import-files.js';
import { BLOCK_BYTES, FileDamaged } from './sealed-blocks.js';

const SEALED_BYTES = BLOCK_BYTES + 16;
/** Building the storage's program, the first time on a machine. */
const START_MS = 600_000;

/** What a bucket is configured by. */
function bucketOf(server: S3Server): Record<string, string> {
  return {
    IMPORT_S3_BUCKET: server.bucket,
    IMPORT_S3_REGION: server.region,
    IMPORT_S3_PREFIX: 'imports/',
    IMPORT_S3_ENDPOINT: server.endpoint,
    IMPORT_S3_PATH_STYLE: 'true',
    IMPORT_S3_ACCESS_KEY_ID: server.accessKeyId,
    IMPORT_S3_SECRET_ACCESS_KEY: server.secretAccessKey,
  };
}

/** Whose the files are is asked in installations.spec.ts. */
const NOBODYS = { claim: () => Promise.resolve() };

interface Started {
  readonly store: FileStore;
  stop(): Promise<unknown>;
}

const STORES: readonly { name: string; start(): Promise<Started> }[] = [
  {
    name: 'a folder',
    start: async () => {
      const folder = await aFolder();
      return { store: new FolderStore(folder.path), stop: folder.remove };
    },
  },
  {
    name: 'a bucket',
    start: async () => {
      const server = await startS3();
      const store = new BucketStore(readConfig(importBucketConfig, bucketOf(server)), NOBODYS);
      return { store, stop: server.stop };
    },
  },
];

describe.each(STORES)('files in $name', ({ start }) => {
  let started: Started;
  let store: FileStore;
  let files: ImportFiles;
  beforeAll(async () => {
    started = await start();
    ({ store } = started);
    process.env['ENCRYPTION_KEY'] = Buffer.alloc(32, 7).toString('base64');
    files = new ImportFiles(store);
    Reflect.deleteProperty(process.env, 'ENCRYPTION_KEY');
  }, START_MS);
  afterAll(() => started.stop());

  const content = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join(''));

  async function kept(name: string, ...parts: readonly Buffer[]): Promise<void> {
    const file = await store.create(name);
    for (const part of parts) await file.write(part);
    await file.finish();
  }

  async function written(plain: Buffer): Promise<ImportFile> {
    const [organizationId, id] = [newId(), newId()];
    const file = await files.create(organizationId, id);
    for (let at = 0; at < plain.length; at += 50_000) await file.write(plain.subarray(at, at + 50_000));
    await file.finish();
    return { organizationId, id, key: file.sealedKey, bytes: plain.length };
  }

  async function contentOf(file: ImportFile, from = 0): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of files.read(file, from)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  const named = async (): Promise<string[]> => (await store.list()).map(({ name }) => name);

  it('are read from any byte on, and lie sealed', async () => {
    const file = await written(content);
    for (const from of [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, content.length - 1, content.length])
      expect((await contentOf(file, from)).equals(content.subarray(from))).toBe(true);
    const lying = await store.read(file.id, 0, content.length);
    expect(lying.includes('line')).toBe(false);
    await files.remove(file.id);
  });

  it('are not read with the key of another, nor where anything of them is another', async () => {
    const [file, other] = [await written(content), await written(content)];
    await expect(contentOf({ ...file, key: other.key })).rejects.toThrow();
    const bytes = await store.read(file.id, 0, 2 * content.length);
    const changed = Buffer.from(bytes);
    changed[100] = (changed[100] ?? 0) ^ 1;
    const moved = [
      bytes.subarray(SEALED_BYTES, 2 * SEALED_BYTES),
      bytes.subarray(0, SEALED_BYTES),
      bytes.subarray(2 * SEALED_BYTES),
    ];
    for (const bad of [[changed], moved, [bytes.subarray(0, SEALED_BYTES)]]) {
      await files.remove(file.id);
      await kept(file.id, ...bad);
      await expect(contentOf(file)).rejects.toThrow(FileDamaged);
    }
    await files.remove(file.id);
    await expect(contentOf(file)).rejects.toThrow(FileMissing);
    await files.remove(other.id);
  });

  it('are what was written, also where they are large or empty', async () => {
    const large = Array.from({ length: 300 }, () => randomBytes(SEALED_BYTES));
    const name = newId();
    await kept(name, ...large);
    const whole = Buffer.concat(large);
    expect((await store.read(name, 0, whole.length)).equals(whole)).toBe(true);
    const around = 8 * 1024 * 1024;
    expect(await store.read(name, around - 10, 20)).toEqual(whole.subarray(around - 10, around + 10));
    expect(await store.read(name, whole.length - 5, 100)).toEqual(whole.subarray(-5));
    expect(await store.read(name, whole.length, 100)).toHaveLength(0);
    const empty = newId();
    await kept(empty);
    expect(await store.read(empty, 0, 100)).toHaveLength(0);
    for (const each of [name, empty]) await store.remove(each);
  });

  it('are found by nobody before they are finished, and listed for whoever sweeps', async () => {
    const [finished, unfinished, abandoned] = [newId(), newId(), newId()];
    await kept(finished, Buffer.from('x'));
    const parts = Array.from({ length: 150 }, () => randomBytes(SEALED_BYTES));
    for (const name of [unfinished, abandoned]) {
      const file = await store.create(name);
      for (const part of parts) await file.write(part);
      if (name === abandoned) await file.abandon();
    }
    for (const name of [unfinished, abandoned])
      await expect(store.read(name, 0, 10)).rejects.toThrow(FileMissing);
    expect((await named()).sort()).toEqual([finished, `${unfinished}.part`].sort());
    const soon = new Date(Date.now() + 60_000);
    expect(await files.leftSince(new Date(Date.now() - 60_000))).toEqual([]);
    const left = await files.leftSince(soon);
    expect(left.map(({ id }) => id).sort()).toEqual([finished, unfinished].sort());
    for (const file of left) await file.remove();
    expect(await named()).toEqual([]);
  });

  it('are removed where there are none', async () => {
    for (const name of [newId(), `${newId()}.part`]) await store.remove(name);
    await expect(store.read(newId(), 0, 10)).rejects.toThrow(FileMissing);
  });
});

describe('a folder', () => {
  afterEach(() => void jest.useRealTimers());

  it('keeps nothing open of a file that it makes too late', async () => {
    const folder = await aFolder();
    const pipe = join(folder.path, 'hanging');
    execFileSync('mkfifo', [pipe]);
    const hanging = new FolderStore(folder.path);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    // One of two places: it comes back when somebody writes.
    const read = hanging.read('hanging', 0, 1);
    const late = hanging.create(newId());
    jest.advanceTimersByTime(15_000);
    await expect(late).rejects.toThrow(StorageUnavailable);
    await expect(read).rejects.toThrow(StorageUnavailable);
    // Has the other place once the file is let go of.
    const stored = await hanging.list();
    expect(stored.map(({ name }) => name)).toEqual(['hanging']);
    const writer = await open(pipe, 'w');
    await writer.close();
    await folder.remove();
  });
});

describe('a bucket', () => {
  const config = (endpoint: string) =>
    readConfig(importBucketConfig, {
      IMPORT_S3_BUCKET: 'files',
      IMPORT_S3_REGION: 'us-east-1',
      IMPORT_S3_PREFIX: 'imports/',
      IMPORT_S3_ENDPOINT: endpoint,
      IMPORT_S3_PATH_STYLE: 'true',
      IMPORT_S3_ACCESS_KEY_ID: 'test',
      IMPORT_S3_SECRET_ACCESS_KEY: 'a secret of tests',
    });

  /** A bucket behind what answers each call so. */
  async function answering(answer: string): Promise<{ store: BucketStore; end: () => void }> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(answer));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const store = new BucketStore(config(`http://127.0.0.1:${port}`), NOBODYS, {
      connectMs: 200,
      callMs: 300,
    });
    const end = (): void => {
      for (const socket of sockets) socket.destroy();
      server.close();
    };
    return { store, end };
  }

  it.each([
    ['says nothing', ''],
    ['stops within its answer', 'HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\nhalf'],
    ['answers without end', 'HTTP/1.1 206 Partial Content\r\nContent-Length: 4294967296\r\n\r\n0'],
  ])('that %s is not waited for without end, and is no missing file', async (_, answer) => {
    const { store, end } = await answering(answer);
    const read = store.read(newId(), 0, 10);
    await expect(read).rejects.toThrow();
    await expect(read).rejects.not.toThrow(FileMissing);
    const file = await store.create(newId());
    await file.write(Buffer.from('x'));
    await expect(file.finish()).rejects.toThrow();
    end();
  });

  it('before which something answers a page of its own has no damaged file', async () => {
    const { store, end } = await answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789');
    await expect(store.read(newId(), 0, 10)).rejects.toThrow(StorageUnavailable);
    end();
  });
});
