import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { newId } from '@customer-platform/database';
import {
  log,
  parseJsonBytes,
  RequestAborted,
  validateBody,
  type RequestContext,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import busboy from 'busboy';
import { StorageUnavailable } from '../files/file-store.js';
import { ImportFiles, type SealedFile } from '../files/import-files.js';
import { completeOptions, type ImportOptions } from '../import-options.js';
import { ImportOptionsDto } from '../import-options.dto.js';
import { FileIntake, MOST_FILE_BYTES, tooLarge, type TakenFile } from './file-intake.js';
import { plainContent } from './plain-content.js';

/** Of the part `options`: 500 columns with long names. */
const MOST_OPTIONS_BYTES = 256 * 1024;

/** What was sent, and where its file lies. */
export interface Upload {
  readonly id: string;
  readonly options: ImportOptions;
  readonly file: TakenFile;
  readonly key: string;
}

/**
 * Takes the multipart body of an import: `options`, then `file`, which goes from the socket to where files lie without
 * ever being held.
 */
@Injectable()
export class ImportUpload {
  constructor(private readonly files: ImportFiles) {}

  /**
   * @param room in bytes, which the organization still has
   * @param gaveWay tells that it is to end, and with what
   * @throws Problem `malformed_request`, `unsupported_media_type`, `body_too_large`, `limit_reached`,
   * `dependency_unavailable` where the disk is full, and those of the options
   */
  async receive(
    context: RequestContext,
    request: IncomingMessage,
    room: number,
    gaveWay: AbortSignal,
  ): Promise<Upload> {
    gaveWay.throwIfAborted();
    const parts = partsOf(request);
    const taking = new Taking(context, this.files, room);
    const { promise, resolve, reject } = Promise.withResolvers<Upload>();
    const fail = (error: unknown): void => reject(error);
    const gone = (): void => {
      if (!request.complete) fail(new RequestAborted('The caller closed the connection'));
    };
    parts.on('field', (name, value, info) => {
      if (name !== 'options')
        fail(refused(`There is no part \`${name.slice(0, 100)}\`; send \`options\` and \`file\`.`));
      else if (info.valueTruncated) fail(tooLarge('The part `options` is larger than 256 KiB.'));
      else taking.options(value).catch(fail);
    });
    parts.on('file', (name, stream) => {
      // What is thrown here is told once, below; the rest of the part is let go.
      stream.on('error', () => undefined);
      taking.file(name, stream).catch((error: unknown) => {
        stream.resume();
        fail(error);
      });
    });
    parts.on('partsLimit', () => fail(refused('The body has more parts than `options` and `file`.')));
    parts.on('error', (error) =>
      fail(new Problem('malformed_request', { detail: 'The body is no multipart form.', cause: error })),
    );
    parts.on('close', () => void taking.finished().then(resolve, fail));
    const giveWay = (): void => fail(gaveWay.reason);
    gaveWay.addEventListener('abort', giveWay);
    request.once('close', gone);
    // Nobody tells again that a caller has gone already.
    if (request.destroyed) gone();
    request.pipe(parts);
    try {
      return await promise;
    } catch (error) {
      request.unpipe(parts);
      parts.destroy();
      await taking.abandon();
      throw error;
    } finally {
      gaveWay.removeEventListener('abort', giveWay);
      request.off('close', gone);
      request.unpipe(parts);
      request.resume(); // what still comes is dropped
    }
  }

  /** Nothing came of it. */
  async discard({ id }: Upload): Promise<void> {
    await this.files.remove(id);
  }
}

function partsOf(request: IncomingMessage): busboy.Busboy {
  const { headers } = request;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Problem('unsupported_media_type', {
      detail: 'The body is not compressed; the file in it may be.',
    });
  if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type', { detail: 'This route takes multipart/form-data.' });
  try {
    return busboy({
      headers,
      // One more of each than is taken, so that it is seen and refused.
      limits: { parts: 3, fieldSize: MOST_OPTIONS_BYTES, fieldNameSize: 100, fileSize: MOST_FILE_BYTES + 1 },
      defParamCharset: 'utf8',
    });
  } catch (error) {
    throw new Problem('malformed_request', { detail: 'The body is no multipart form.', cause: error });
  }
}

/** One body as it comes. */
class Taking {
  private readonly id = newId();
  private reading: Promise<ImportOptions> | undefined;
  private sealed: SealedFile | undefined;
  private writing: Promise<TakenFile> | undefined;

  constructor(
    private readonly context: RequestContext,
    private readonly files: ImportFiles,
    private readonly room: number,
  ) {}

  async options(text: string): Promise<void> {
    if (this.reading) throw refused('There are two parts `options`.');
    this.reading = this.read(text);
    await this.reading;
  }

  async file(name: string, stream: Readable): Promise<void> {
    if (name !== 'file') throw refused(`There is no file \`${name.slice(0, 100)}\`; send it as \`file\`.`);
    if (this.writing) throw refused('There are two files.');
    if (!this.reading) throw refused('The part `options` comes before the part `file`.');
    this.writing = this.write(await this.reading, stream);
    await this.writing;
  }

  /** Once the body is at its end. @throws Problem `malformed_request` */
  async finished(): Promise<Upload> {
    const options = await this.reading;
    if (!options) throw refused('The part `options` is missing.');
    const file = await this.writing;
    if (!file || !this.sealed) throw refused('The part `file` is missing.');
    return { id: this.id, options, file, key: this.sealed.sealedKey };
  }

  async abandon(): Promise<void> {
    await Promise.allSettled([this.writing]);
    for (const left of [() => this.sealed?.abandon(), () => this.files.remove(this.id)]) {
      try {
        await left();
      } catch (error) {
        log.warn({ err: error, import: this.id }, 'What came of an upload is left to the sweep');
      }
    }
  }

  private async read(text: string): Promise<ImportOptions> {
    return completeOptions(
      this.context,
      await validateBody(ImportOptionsDto, parseJsonBytes(Buffer.from(text))),
    );
  }

  private async write(options: ImportOptions, stream: Readable): Promise<TakenFile> {
    try {
      return await this.store(new FileIntake(options, this.room), stream);
    } catch (error) {
      if (!isFull(error) && !(error instanceof StorageUnavailable)) throw error;
      throw new Problem('dependency_unavailable', {
        detail: isFull(error)
          ? 'There is no room where files of imports lie; try again later.'
          : 'Where files of imports lie does not answer; try again later.',
        cause: error,
      });
    }
  }

  private async store(intake: FileIntake, stream: Readable): Promise<TakenFile> {
    this.sealed = await this.files.create(this.context.organizationId, this.id);
    for await (const chunk of plainContent(stream as AsyncIterable<Buffer>)) {
      intake.take(chunk);
      await this.sealed.write(chunk);
    }
    const taken = intake.finish();
    await this.sealed.finish();
    return taken;
  }
}

/** The disk, or what may lie on it. */
function isFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return error.code === 'ENOSPC' || error.code === 'EDQUOT';
}

function refused(detail: string): Problem {
  return new Problem('malformed_request', { detail });
}
