import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Bodies up to this size are read whole before they are passed on: one write instead of a stream's machinery. */
const SMALL_BODY = 64 * 1024;

/** How a request's body goes on: whole, as the stream it is (made when it can go), or not at all. */
export type Body = Buffer | 'streamed' | null;

/** A small body did not arrive in time. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow';
}

/** The caller went away. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/**
 * A small body whole, a large or chunked one as the stream it is, none as null. A module is not troubled with a small
 * body before all of it is there.
 * @throws BodyTooSlow, CallerGone
 */
export function readBody(request: IncomingMessage, patienceMs: number): Promise<Body> | Body {
  const declared = request.headers['content-length'];
  if (declared === undefined) return request.headers['transfer-encoding'] === undefined ? null : 'streamed';
  const length = Number(declared);
  if (length === 0) return null;
  return length > SMALL_BODY ? 'streamed' : collect(request, patienceMs);
}

function collect(request: IncomingMessage, patienceMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const late = setTimeout(() => reject(new BodyTooSlow()), patienceMs);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      clearTimeout(late);
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    request.once('close', () => {
      clearTimeout(late);
      if (!request.complete) reject(new CallerGone());
    });
  });
}

/** How long a caller may go on sending a body that nobody reads any more, in milliseconds. */
const LINGER_MS = 10_000;

/**
 * A request's body as a stream of its own. undici destroys the body of a request that failed; that of an incoming
 * request would take the caller's connection with it, and the answer that says what happened. Whoever makes one hears
 * it fail from the first moment: undici listens only once it has a connection, and what nobody hears ends the process.
 */
export class DetachedBody extends Readable {
  private readonly pass = (chunk: Buffer) => {
    if (!this.push(chunk)) this.source.pause();
  };
  private readonly finish = () => this.push(null);
  private readonly abandon = () => {
    if (!this.source.complete) this.destroy(new CallerGone());
  };

  constructor(
    private readonly source: IncomingMessage,
    failed: (error: Error) => void,
  ) {
    super();
    this.on('error', failed);
    source.pause();
    source.on('data', this.pass).once('end', this.finish).once('close', this.abandon);
    // Nobody tells again that a caller has gone already.
    if (source.destroyed) this.abandon();
  }

  override _read(): void {
    this.source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.source.off('data', this.pass).off('end', this.finish).off('close', this.abandon);
    this.source.resume(); // what still comes is dropped
    callback(error);
  }
}

/**
 * Lets a caller that was answered early finish sending, for a while: closing at once would reset the connection, and a
 * reset can overtake the answer.
 */
export function linger(request: IncomingMessage, forMs = LINGER_MS): void {
  if (request.complete) return;
  request.resume();
  const late = setTimeout(() => request.socket.destroy(), forMs).unref();
  request.once('end', () => clearTimeout(late)).once('close', () => clearTimeout(late));
}
