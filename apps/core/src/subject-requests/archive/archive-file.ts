import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { csvLine } from '@customer-platform/http';
import type { ArchivePieces, CollectedResource } from './archive-pieces.js';
import { indexPage, SHOWN_ROWS, type IndexedResource, type IndexHead } from './index-page.js';

/** Bytes in which the file is cut. */
const PIECE_BYTES = 1024 * 1024;

/** The collected parts of an archive of which its file is made. */
type Collected = Pick<ArchivePieces, 'resources' | 'rowsOf'>;

/**
 * The archive as a ZIP file, in pieces of 1 MiB: `index.html`, and of each resource all rows as JSON and as CSV. Each
 * file in it is made as it is written, so that whoever many rows there are, a piece of them is in memory.
 */
export async function* archiveFile(head: IndexHead, pieces: Collected): AsyncGenerator<Buffer> {
  const resources = await pieces.resources();
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  // What fails within a file ends the whole: half of an archive is none.
  const fail = (error: Error): unknown => output.destroy(error);
  zip.on('error', fail);
  const add = (name: string, content: () => AsyncIterable<string>): void =>
    zip.addReadStreamLazy(name, { mtime: head.madeAt }, (take) => {
      // The library hears no error of a stream: it would wait for the rest, and the process would end.
      take(null, Readable.from(encoded(content()), { objectMode: false }).once('error', fail));
    });
  add('index.html', () => indexOf(head, pieces, resources));
  for (const resource of resources) {
    const name = `${resource.module}/${resource.resource}`;
    add(`${name}.json`, () => jsonOf(pieces.rowsOf(resource)));
    add(`${name}.csv`, () => csvOf(pieces.rowsOf(resource)));
  }
  zip.end();
  try {
    yield* inPieces(output);
  } finally {
    output.destroy();
  }
}

async function* inPieces(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) if (text !== '') yield Buffer.from(text);
}

/** The rows word for word, so that figures stay exact. */
async function* jsonOf(rows: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield `${before}${row}`;
    before = ',\n';
  }
  yield '\n]\n';
}

async function* csvOf(rows: AsyncIterable<string>): AsyncGenerator<string> {
  let names: string[] | undefined;
  for await (const text of rows) {
    const row = JSON.parse(text) as Record<string, unknown>;
    // Spreadsheets take what has no mark for the encoding of their country.
    if (names === undefined) yield `\ufeff${csvLine((names = Object.keys(row)))}`;
    yield csvLine(names.map((name) => row[name]));
  }
}

async function* indexOf(
  head: IndexHead,
  pieces: Collected,
  resources: readonly CollectedResource[],
): AsyncGenerator<string> {
  const shown: IndexedResource[] = [];
  for (const resource of resources)
    shown.push({ ...resource, first: await firstOf(pieces.rowsOf(resource)) });
  yield* indexPage(head, shown);
}

async function firstOf(rows: AsyncIterable<string>): Promise<Record<string, unknown>[]> {
  const first: Record<string, unknown>[] = [];
  for await (const row of rows) {
    first.push(JSON.parse(row) as Record<string, unknown>);
    if (first.length === SHOWN_ROWS) break;
  }
  return first;
}
