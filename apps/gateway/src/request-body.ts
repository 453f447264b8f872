import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { GrowingBuffer } from '@customer-platform/config';
import { Problem } from '@customer-platform/problem-json';
import { paceOf } from './routes.js';
import { CallerWait, type SlowCallers } from './slow-callers.js';

/** Bodies up to this size are passed on once all of them is here: what every route but the uploads takes at most. */
const WHOLE_BODY = 1 << 20;

/** A body brings at least so much over each window, 1 KiB/s: slower than any line that people use. */
const WINDOW_MS = 10_000;
const LEAST_BYTES_IN_WINDOW = 10 * 1024;

/** The part of a large body that came before it was known to be large; the rest is still to be read. */
export class LargeBody {
  constructor(readonly beginning: Buffer) {}
}

/** How a request's body goes on: whole, as a stream of its own, or not at all. */
export type Body = Buffer | LargeBody | null;

/** The caller does not send; told as 408. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow';
}

/** The caller went away. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** A body that is on its way. */
export class BodyWait extends CallerWait {
  moved = 0;
  holds: object | undefined;
  private windowBegan: number;
  private movedBefore = 0;
  private givenUp: ((error: Error) => void) | undefined;

  constructor(
    private readonly request: IncomingMessage,
    address: string,
    now: number,
  ) {
    super(address, now);
    this.windowBegan = now;
  }

  whenGivenUp(told: (error: Error) => void): void {
    this.givenUp = told;
  }

  /** A module reads it as it comes from here on, by one of these connections. */
  goesOn(connections: object, now: number): void {
    this.holds = connections;
    [this.windowBegan, this.movedBefore] = [now, this.moved];
    this.beginAnew(now);
  }

  /** One that is not read waits for its module, which is no fault of its caller's. */
  protected override get isHeldUp(): boolean {
    return this.request.isPaused();
  }

  /** All of it is here. */
  ends(): void {
    this.holds = undefined;
    this.givenUp = undefined;
  }

  isOverdue(now: number): boolean {
    const { bodyMs } = paceOf(this.request.url ?? '/');
    if (this.holds === undefined && bodyMs !== undefined && now - this.began > bodyMs) return true;
    if (now - this.windowBegan < WINDOW_MS) return false;
    const slow = this.moved - this.movedBefore < LEAST_BYTES_IN_WINDOW && !this.isHeldUp;
    [this.windowBegan, this.movedBefore] = [now, this.moved];
    return slow;
  }

  giveUp(why: 'slow' | 'crowded'): void {
    this.givenUp?.(why === 'slow' ? new BodyTooSlow() : noRoom());
  }
}

/**
 * The body of a request: whole, whatever its framing, so that a module is not troubled before all of it is here; of a
 * large one the beginning. Its bytes stay counted until `wait` is released.
 * @throws BodyTooSlow, CallerGone, Problem where there is no room
 */
export function readBody(
  request: IncomingMessage,
  wait: BodyWait,
  callers: SlowCallers,
): Promise<Body> | Body {
  const declared = request.headers['content-length'];
  if (declared === undefined && request.headers['transfer-encoding'] === undefined) return null;
  const length = declared === undefined ? undefined : Number(declared);
  if (length === 0) return null;
  if (length !== undefined && length > WHOLE_BODY) return new LargeBody(Buffer.alloc(0));
  return collect(request, new GrowingBuffer(length), wait, callers);
}

function collect(
  request: IncomingMessage,
  body: GrowingBuffer,
  wait: BodyWait,
  callers: SlowCallers,
): Promise<Body> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      callers.end(wait);
      request.off('data', take).off('end', finish).off('close', abandon);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      body.add(chunk);
      wait.moved += chunk.length;
      if (!callers.hold(wait, body.capacity)) return fail(noRoom());
      if (body.length <= WHOLE_BODY) return;
      settle();
      request.pause();
      resolve(new LargeBody(body.bytes()));
    };
    const finish = (): void => {
      settle();
      resolve(body.bytes());
    };
    const abandon = (): void => {
      if (!request.complete) fail(new CallerGone());
    };
    wait.whenGivenUp(fail);
    callers.begin(wait);
    request.on('data', take).once('end', finish).once('close', abandon);
  });
}

function noRoom(): Problem {
  return new Problem('dependency_unavailable', {
    detail: 'More bodies are on their way than there is room for; try again shortly.',
  });
}

/** How long a caller may go on sending a body that nobody reads any more, in milliseconds. */
const LINGER_MS = 10_000;

/** What becomes of a body that goes on while it comes. */
export interface BodyTold {
  /** What came before it went on has been taken. */
  readonly passed: () => void;
  /** All of it is here. */
  readonly received: () => void;
  readonly failed: (error: Error) => void;
}

/**
 * The body of a large request as a stream of its own. undici destroys the body of a request that failed; that of an
 * incoming request would take the caller's connection with it, and the answer that says what happened. Whoever makes one
 * hears it fail from the first moment: undici listens only once it has a connection, and what nobody hears ends the
 * process.
 */
export class DetachedBody extends Readable {
  private readonly pass = (chunk: Buffer) => {
    this.wait.moved += chunk.length;
    if (!this.push(chunk)) this.source.pause();
  };
  private readonly finish = () => {
    this.push(null);
    this.told.received();
  };
  private readonly abandon = () => {
    if (!this.source.complete) this.destroy(new CallerGone());
  };

  constructor(
    private readonly source: IncomingMessage,
    { beginning }: LargeBody,
    private readonly wait: BodyWait,
    private readonly told: BodyTold,
  ) {
    super();
    this.on('error', told.failed);
    source.pause();
    if (beginning.length > 0) this.push(beginning);
    source.on('data', this.pass).once('end', this.finish).once('close', this.abandon);
    // Nobody tells again that a caller has gone already.
    if (source.destroyed) this.abandon();
  }

  /** What came before has been taken. */
  override _read(): void {
    this.told.passed();
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
  // Nobody tells again that a caller has gone already.
  if (request.complete || request.closed) return;
  request.resume();
  const late = setTimeout(() => request.socket.destroy(), forMs).unref();
  request.once('end', () => clearTimeout(late)).once('close', () => clearTimeout(late));
}
