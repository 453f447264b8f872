import type { ServerResponse } from 'node:http';
import { paceOf } from './routes.js';
import { CallerWait, type SlowCallers } from './slow-callers.js';

/** A reader has so long for anything, and for what is on its way to it the time that 8 KiB/s take. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_MS = 8;
/** The system takes so much for a reader, and more only once the reader has taken a good part of it. */
const UNSEEN_BYTES = 1 << 20;

/** How long answers waited for their readers before, in milliseconds: one may wait again for each piece of it. */
const waitedBefore = new WeakMap<ServerResponse, number>();
/** The longest pauses of their readers before, in milliseconds. */
const pausedBefore = new WeakMap<ServerResponse, number>();

/** An answer that its reader takes more slowly than it came. */
export class AnswerWait extends CallerWait {
  /** Where the module waits to go on: the connections of which it holds one. */
  holds: object | undefined;
  private given: number;
  private left: number;
  private since: number;

  private constructor(
    private readonly response: ServerResponse,
    private readonly callers: SlowCallers,
    address: string,
  ) {
    super(address, callers.now());
    this.since = this.began;
    this.left = this.given = response.writableLength;
    this.longestPause = pausedBefore.get(response) ?? 0;
    const end = (): void => {
      const now = callers.now();
      waitedBefore.set(response, this.waited(now));
      pausedBefore.set(response, this.pauseAt(now));
      callers.end(this);
      callers.release(this);
      response.off('drain', drained).off('finish', end).off('close', end);
    };
    const drained = (): void => {
      if (this.holds === undefined) end();
    };
    response.on('drain', drained).once('finish', end).once('close', end);
    callers.begin(this);
  }

  /** Counts what waits for its reader, from here until it has been taken. */
  static of(response: ServerResponse, callers: SlowCallers, address: string): AnswerWait {
    return new AnswerWait(response, callers, address);
  }

  get moved(): number {
    return Math.max(0, this.given - this.response.writableLength);
  }

  /** Counts `bytes` more. Whether there is room for what waits now. */
  add(bytes: number): boolean {
    this.given += bytes;
    return this.callers.hold(this, this.response.writableLength);
  }

  private waited(now: number): number {
    return (waitedBefore.get(this.response) ?? 0) + now - this.began;
  }

  isOverdue(now: number): boolean {
    const { writableLength } = this.response;
    this.callers.hold(this, writableLength);
    const { answerMs } = paceOf(this.response.req.url ?? '/');
    if (answerMs !== undefined && this.waited(now) > answerMs) return true;
    // What has come in between hides what was taken: it counts as taken.
    if (writableLength !== this.left) [this.since, this.left] = [now, writableLength];
    return writableLength > 0 && now - this.since > longestStill(writableLength);
  }

  /** The head has gone: that the rest does not come is all that can be told. */
  giveUp(): void {
    this.response.destroy();
    // One that stands behind another would leave the connection, and all that is written to it.
    this.response.req.socket.destroy();
  }
}

/** How long nothing seems to be taken where the rest of an answer is taken at the least rate, in milliseconds. */
function longestStill(left: number): number {
  return GRACE_MS + (left + UNSEEN_BYTES) / LEAST_BYTES_PER_MS;
}

/** Counts what is left of an answer that has been written whole; of most nothing is, as the system has taken it. */
export function mindUnread(response: ServerResponse, callers: SlowCallers, address: string): void {
  // One that stands behind another on its connection has no socket yet, and holds all of it itself.
  if (!response.destroyed && (response.socket ?? response).writableLength > 0)
    AnswerWait.of(response, callers, address).add(0);
}
