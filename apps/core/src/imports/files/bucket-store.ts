import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
  type CompletedPart,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3';
import type { OnModuleInit } from '@nestjs/common';
import { type ImportBucketConfig, readTlsFiles } from '@customer-platform/config';
import { type Installation, type MarkedPlace, OtherInstallation } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import {
  FileMissing,
  FileStore,
  StorageUnavailable,
  UNFINISHED,
  type NewFile,
  type StoredFile,
} from './file-store.js';

/** What is sent at once; S3 asks for 5 MiB at least, of all parts but the last. */
const PART_BYTES = 8 * 1024 * 1024;

/** How long a storage that does not answer is waited for, in milliseconds. */
interface BucketPatience {
  readonly connectMs: number;
  /** For one call, all its repetitions and what it answers included. */
  readonly callMs: number;
}

/** A reader holds the row of its import, and PostgreSQL ends a transaction that has been idle for 30 s. */
const PATIENCE: BucketPatience = { connectMs: 3_000, callMs: 15_000 };
const ATTEMPTS = 3;
/** No id of an import: the releases before leave it where it is. */
const MARK = 'installation';
/** Another has put it there; some storages say so when two come at once, others do not know that one may ask for it. */
const THERE = ['PreconditionFailed', 'ConditionalRequestConflict'];

/**
 * Files as objects of a bucket, in any storage that speaks S3. A large one goes up in parts, and is an object once all
 * are there; what was begun and never finished is listed among the files.
 */
export class BucketStore extends FileStore implements OnModuleInit {
  private readonly bucket: Bucket;

  constructor(
    config: ImportBucketConfig,
    private readonly installation: Pick<Installation, 'claim'>,
    patience = PATIENCE,
  ) {
    super();
    this.bucket = new Bucket(config, patience, () => installation.claim(this.place));
  }

  /** The bucket below the prefix, marked by an object. */
  override get place(): MarkedPlace {
    return new MarkedBucket(this.bucket);
  }

  /**
   * Refuses the start with another's files. A storage that does not answer does not: it is asked before it is used.
   * @throws OtherInstallation
   */
  async onModuleInit(): Promise<void> {
    try {
      await this.installation.claim(this.place);
    } catch (error) {
      if (error instanceof OtherInstallation) throw error;
      log.warn({ err: error }, 'The bucket of imports cannot be used yet; whose it is is asked when it can');
    }
  }

  create(name: string): Promise<NewFile> {
    return Promise.resolve(new BucketFile(this.bucket, name));
  }

  async read(name: string, from: number, length: number): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    const Range = `bytes=${String(from)}-${String(from + length - 1)}`;
    try {
      return await this.bucket.call(async (client, at, abortSignal) => {
        const question = new GetObjectCommand({ ...at(name), Range });
        const { Body, ContentLength, $metadata } = await client.send(question, { abortSignal });
        // Whatever stands before the storage may answer something else, of any length: it is no file that was damaged.
        if ($metadata.httpStatusCode !== 206 || ContentLength === undefined || ContentLength > length)
          throw new StorageUnavailable(
            'The bucket of imports answers something else than what was asked for',
          );
        return Body ? Buffer.from(await Body.transformToByteArray()) : Buffer.alloc(0);
      });
    } catch (error) {
      if (isNamed(error, 'InvalidRange')) return Buffer.alloc(0);
      // Without a cause, as of a folder.
      if (isNamed(error, 'NoSuchKey')) throw new FileMissing('The file is not in the bucket of imports');
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    if (!name.endsWith(UNFINISHED)) return this.bucket.remove(name);
    const finished = name.slice(0, -UNFINISHED.length);
    for (const upload of await this.bucket.uploads(finished))
      if (upload.name === finished) await this.bucket.abort(finished, upload.id);
  }

  async list(): Promise<StoredFile[]> {
    const [objects, uploads] = await Promise.all([this.bucket.objects(), this.bucket.uploads('')]);
    return [
      ...objects,
      ...uploads.map(({ name, changedAt }) => ({ name: `${name}${UNFINISHED}`, changedAt })),
    ];
  }
}

type At = (name: string) => { Bucket: string; Key: string };
type Call<T> = (client: S3Client, at: At, abortSignal: AbortSignal) => Promise<T>;

/** Calls of one bucket, each given up after a while; names are what follows the prefix. */
class Bucket {
  private readonly client: S3Client;
  private isOwn = false;

  constructor(
    private readonly config: ImportBucketConfig,
    private readonly patience: BucketPatience,
    private readonly claim: () => Promise<void>,
  ) {
    const { IMPORT_S3_ACCESS_KEY_ID: accessKeyId, IMPORT_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
    this.client = new S3Client({
      region: config.IMPORT_S3_REGION,
      forcePathStyle: config.IMPORT_S3_PATH_STYLE,
      maxAttempts: ATTEMPTS,
      // Storages that are not Amazon's do not all know its later checksums; every block is authenticated by itself.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: patience.connectMs,
        requestTimeout: patience.callMs,
        httpsAgent: tlsOf(config),
      },
      ...(config.IMPORT_S3_ENDPOINT === undefined ? {} : { endpoint: config.IMPORT_S3_ENDPOINT }),
      ...(accessKeyId !== undefined && secretAccessKey !== undefined
        ? { credentials: { accessKeyId, secretAccessKey } }
        : {}),
    });
  }

  /**
   * @throws OtherInstallation where the files are another's, BucketRefusal; StorageUnavailable where it fails, or takes
   * too long, body and all
   */
  async call<T>(work: Call<T>): Promise<T> {
    if (!this.isOwn) await this.claim();
    this.isOwn = true;
    return this.callAnyone(work);
  }

  /** Calls the bucket as `call` does, without asking whose it is. */
  async callAnyone<T>(work: Call<T>): Promise<T> {
    const { IMPORT_S3_BUCKET: Bucket, IMPORT_S3_PREFIX: prefix } = this.config;
    const signal = AbortSignal.timeout(this.patience.callMs);
    const { promise, reject } = Promise.withResolvers<never>();
    const late = (): void => reject(new StorageUnavailable('The bucket of imports does not answer'));
    signal.addEventListener('abort', late, { once: true });
    const done = work(this.client, (name) => ({ Bucket, Key: `${prefix}${name}` }), signal);
    try {
      return await Promise.race([done, promise]);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      if (error instanceof S3ServiceException) throw refusalOr(error);
      log.debug({ err: error }, 'The bucket of imports cannot be used');
      throw new StorageUnavailable('The bucket of imports cannot be used');
    } finally {
      signal.removeEventListener('abort', late);
    }
  }

  async remove(name: string): Promise<void> {
    await this.call((client, at, abortSignal) =>
      client.send(new DeleteObjectCommand(at(name)), { abortSignal }),
    );
  }

  async abort(name: string, UploadId: string): Promise<void> {
    try {
      await this.call((client, at, abortSignal) =>
        client.send(new AbortMultipartUploadCommand({ ...at(name), UploadId }), { abortSignal }),
      );
    } catch (error) {
      if (!isNamed(error, 'NoSuchUpload')) throw error;
    }
  }

  async objects(): Promise<StoredFile[]> {
    const { IMPORT_S3_BUCKET: Bucket, IMPORT_S3_PREFIX: Prefix } = this.config;
    const found: StoredFile[] = [];
    let ContinuationToken: string | undefined;
    do {
      const question = { Bucket, Prefix, ContinuationToken };
      const page: ListObjectsV2CommandOutput = await this.call((client, _, abortSignal) =>
        client.send(new ListObjectsV2Command(question), { abortSignal }),
      );
      for (const { Key = '', LastModified } of page.Contents ?? [])
        if (LastModified && Key !== `${Prefix}${MARK}`)
          found.push({ name: Key.slice(Prefix.length), changedAt: LastModified });
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    return found;
  }

  /** What was begun of files whose names begin so, and has not become one. */
  async uploads(begin: string): Promise<(StoredFile & { readonly id: string })[]> {
    const { IMPORT_S3_BUCKET: Bucket, IMPORT_S3_PREFIX: prefix } = this.config;
    const found: (StoredFile & { id: string })[] = [];
    let behind: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
    while (behind) {
      const question = { Bucket, Prefix: `${prefix}${begin}`, ...behind };
      const page = await this.uploadsAt(question);
      for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
        if (UploadId !== undefined && Initiated)
          found.push({ name: Key.slice(prefix.length), changedAt: Initiated, id: UploadId });
      }
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      behind =
        page.IsTruncated === true && KeyMarker !== undefined
          ? { KeyMarker, ...(UploadIdMarker === undefined ? {} : { UploadIdMarker }) }
          : undefined;
    }
    return found;
  }

  /** One page of them; some storages say in their own way that there is none. */
  private async uploadsAt(
    question: ListMultipartUploadsCommandInput,
  ): Promise<Partial<ListMultipartUploadsCommandOutput>> {
    try {
      return await this.call((client, _, abortSignal) =>
        client.send(new ListMultipartUploadsCommand(question), { abortSignal }),
      );
    } catch (error) {
      if (isNamed(error, 'NoSuchUpload')) return {};
      throw error;
    }
  }
}

/** An object whose content is the id of the installation. */
class MarkedBucket implements MarkedPlace {
  readonly name = 'The bucket of imports';
  readonly variables = 'IMPORT_S3_BUCKET, IMPORT_S3_PREFIX';
  /** An operator may empty it. */
  readonly lasting = false;

  constructor(private readonly bucket: Bucket) {}

  async marks(): Promise<string[]> {
    try {
      return await this.bucket.callAnyone(async (client, at, abortSignal) => {
        const { Body } = await client.send(new GetObjectCommand(at(MARK)), { abortSignal });
        return [(await Body?.transformToString()) ?? ''];
      });
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return [];
      throw error;
    }
  }

  async mark(id: string): Promise<void> {
    try {
      await this.put(id, { IfNoneMatch: '*' });
    } catch (error) {
      if (isNamed(error, 'NotImplemented')) await this.put(id);
      else if (!THERE.some((name) => isNamed(error, name))) throw error;
    }
  }

  replace(id: string): Promise<void> {
    return this.put(id);
  }

  private async put(Body: string, condition: { IfNoneMatch?: string } = {}): Promise<void> {
    await this.bucket.callAnyone((client, at, abortSignal) =>
      client.send(new PutObjectCommand({ ...at(MARK), Body, ...condition }), { abortSignal }),
    );
  }
}

/** Gathers a part, and sends it before more is taken. */
class BucketFile implements NewFile {
  private buffered: Buffer[] = [];
  private bytes = 0;
  private upload: string | undefined;
  private readonly parts: CompletedPart[] = [];

  constructor(
    private readonly bucket: Bucket,
    private readonly name: string,
  ) {}

  async write(bytes: Buffer): Promise<void> {
    this.buffered.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes >= PART_BYTES) await this.sendPart();
  }

  async finish(): Promise<void> {
    if (this.upload === undefined) {
      const Body = this.taken();
      await this.bucket.call((client, at, abortSignal) =>
        client.send(new PutObjectCommand({ ...at(this.name), Body }), { abortSignal }),
      );
      return;
    }
    if (this.bytes > 0) await this.sendPart();
    const { upload: UploadId, parts: Parts } = this;
    const whole = { UploadId, MultipartUpload: { Parts } };
    await this.bucket.call((client, at, abortSignal) =>
      client.send(new CompleteMultipartUploadCommand({ ...at(this.name), ...whole }), { abortSignal }),
    );
  }

  async abandon(): Promise<void> {
    this.buffered = [];
    if (this.upload !== undefined) await this.bucket.abort(this.name, this.upload);
  }

  private async sendPart(): Promise<void> {
    const Body = this.taken();
    this.upload ??= await this.begin();
    const part = { UploadId: this.upload, PartNumber: this.parts.length + 1, Body };
    const { ETag } = await this.bucket.call((client, at, abortSignal) =>
      client.send(new UploadPartCommand({ ...at(this.name), ...part }), { abortSignal }),
    );
    this.parts.push({ ETag, PartNumber: part.PartNumber });
  }

  private async begin(): Promise<string> {
    const { UploadId } = await this.bucket.call((client, at, abortSignal) =>
      client.send(new CreateMultipartUploadCommand(at(this.name)), { abortSignal }),
    );
    if (UploadId === undefined) throw new Error('The storage of imports named no upload');
    return UploadId;
  }

  private taken(): Buffer {
    const all = Buffer.concat(this.buffered);
    this.buffered = [];
    this.bytes = 0;
    return all;
  }
}

/** Keeps connections as Node's own agents do, with whom to trust and a certificate of ours. @throws ConfigError */
function tlsOf(config: ImportBucketConfig) {
  const { IMPORT_S3_TLS_CA_FILE: ca, IMPORT_S3_TLS_CERT_FILE: cert, IMPORT_S3_TLS_KEY_FILE: key } = config;
  return { keepAlive: true, maxSockets: 50, ...readTlsFiles('IMPORT_S3_TLS', { ca, cert, key }) };
}

/** What a storage refuses. Its own words stay out of logs: credentials and what was signed may stand in them. */
class BucketRefusal extends Error {
  override readonly name = 'BucketRefusal';

  constructor(
    readonly refusal: string,
    readonly status: number,
  ) {
    super(`The bucket of imports refuses: ${refusal} (${String(status)})`);
  }
}

/** Refusals that pass by themselves: too much at once, or credentials and clocks that are being renewed. */
const PASSING = new Set(['ExpiredToken', 'RequestTimeTooSkewed', 'SlowDown', 'TooManyRequests']);

function refusalOr({ name, $metadata }: S3ServiceException): Error {
  const status = $metadata.httpStatusCode ?? 500;
  const refusal = /^\w{1,64}$/.test(name) ? name : 'of an unknown kind';
  if (status >= 500 || status === 408 || status === 429 || PASSING.has(name))
    return new StorageUnavailable(`The bucket of imports cannot be used: ${refusal} (${String(status)})`);
  return new BucketRefusal(refusal, status);
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof BucketRefusal && error.refusal === name;
}
