import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Problem } from '@customer-platform/problem-json';
import { tooLarge } from './file-intake.js';

const GZIP = [0x1f, 0x8b];
/** What deflate makes of text is hardly below a hundredth; of what is made to burst, a thousandth. */
const MOST_INFLATION = 200;
/** So much is let pass whatever it was made of. */
const FREE_BYTES = 16 * 1024 * 1024;

/**
 * The content of a file, inflated if it is gzip, by its first bytes.
 * @throws Problem `malformed_request` on broken gzip, `body_too_large` on what inflates beyond reason
 */
export async function* plainContent(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const pieces = file[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);
  while (first.length < GZIP.length) {
    const next = await pieces.next();
    if (next.done === true) break;
    first = Buffer.concat([first, next.value]);
  }
  const rest = async function* (): AsyncGenerator<Buffer> {
    if (first.length > 0) yield first;
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  if (GZIP.every((byte, at) => first[at] === byte)) yield* inflated(rest());
  else yield* rest();
}

async function* inflated(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const count = { sent: 0, made: 0 };
  const gunzip = createGunzip();
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of file) {
      count.sent += chunk.length;
      yield chunk;
    }
  };
  const feeding = Promise.allSettled([pipeline(Readable.from(counted(), { objectMode: false }), gunzip)]);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      count.made += chunk.length;
      if (count.made > FREE_BYTES && count.made > MOST_INFLATION * count.sent)
        throw tooLarge('The file inflates to more than 200 times what was sent.');
      yield chunk;
    }
    const [fed] = await feeding;
    if (fed.status === 'rejected') throw fed.reason as Error;
  } catch (error) {
    if (!isZlib(error)) throw error;
    throw new Problem('malformed_request', { detail: 'The file is not gzip.', cause: error });
  } finally {
    gunzip.destroy();
  }
}

function isZlib(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && /^Z_/.test(String(error.code));
}
