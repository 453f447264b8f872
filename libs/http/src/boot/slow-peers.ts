import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Routes that a body has the same time for. */
export type BodyClass = 'event' | 'ordinary' | 'file';

/**
 * A body that is read brings so much over each window. The gateway asks as much of callers in each 10 s, which begin at
 * other times: what is quick enough there is so here.
 */
const LEAST_BYTES = 10 * 1024;
const WINDOW_MS = 30_000;
const WHOLE_MS: Readonly<Record<BodyClass, number>> = { event: 15_000, ordinary: 60_000, file: Infinity };

/**
 * So much of an answer is taken over each window; the gateway, which waits for its reader for half of that, takes more. The
 * system takes what it has room for by megabytes: a shorter window would often see nothing.
 */
const LEAST_TAKEN = 300 * 1024;
const TAKEN_WINDOW_MS = 300_000;
/** How long an answer may wait for its reader in all; the gateway cuts it off sooner. */
const ANSWER_MS: Readonly<Record<BodyClass, number>> = { event: 60_000, ordinary: 180_000, file: Infinity };

/** A reader that took so much since the last look is not too slow, 8 KiB/s. */
const QUICK_BYTES_PER_MS = 8;

/** How long a caller may go on sending a body that was answered before all of it was here. */
const LINGER_MS = 10_000;

/** What answers that are not taken may hold of the process, in bytes. */
const ROOM = 64 << 20;

/** How often it is to be looked, in milliseconds. */
export const LOOK_EVERY_MS = 10_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly began: number;
  /** What its connection had brought when the window of its body began; undefined while nobody reads. */
  window: { began: number; received: number } | undefined;
  /** What had been taken of its answer, at the last look and when a window began; undefined while all is taken. */
  unread: { at: number; taken: number; windowBegan: number; takenBefore: number } | undefined;
  /** How long its answer has waited for its reader. */
  waited: number;
}

/** Of which class bodies and answers are. */
interface Classes {
  readonly ofBody: (request: IncomingMessage) => BodyClass;
  readonly ofAnswer: (request: IncomingMessage, response: ServerResponse) => BodyClass;
}

/**
 * The exchanges of a listener whose peer hardly sends or takes. Behind the gateway that has let go of such callers before;
 * where a listener stands alone they would hold its connections, and what is written to them its memory. They are looked
 * at all together: no request has a timer of its own.
 */
export class SlowPeers {
  private readonly exchanges = new Map<ServerResponse, Exchange>();
  /** Requests that were answered and are not here whole, and since when. */
  private readonly answered = new Map<IncomingMessage, number>();

  constructor(
    private readonly classes: Classes,
    private readonly tooSlow: (request: IncomingMessage) => void,
    private readonly room = ROOM,
  ) {}

  begin(request: IncomingMessage, response: ServerResponse, now: number): void {
    this.exchanges.set(response, { request, began: now, window: undefined, unread: undefined, waited: 0 });
  }

  end(response: ServerResponse, now: number): void {
    const request = this.exchanges.get(response)?.request;
    this.exchanges.delete(response);
    // Node would let it hold its connection for as long as anything comes, and then for good.
    if (request?.complete === false && !request.socket.destroyed) this.answered.set(request, now);
  }

  look(now: number): void {
    this.endAnswered(now);
    const slow: ServerResponse[] = [];
    let held = 0;
    for (const [response, exchange] of this.exchanges) {
      if (this.sendsTooLittle(exchange, now)) this.tooSlow(exchange.request);
      else if (response.writableLength === 0) exchange.unread = undefined;
      else {
        const pace = takenSinceLook(response, exchange, now);
        if (this.takesTooLittle(response, exchange, now)) response.destroy();
        else if (pace < QUICK_BYTES_PER_MS) {
          held += response.writableLength;
          slow.push(response);
        }
      }
    }
    slow.sort((one, other) => other.writableLength - one.writableLength);
    for (const response of slow) {
      if (held <= this.room) return;
      held -= response.writableLength;
      response.destroy();
    }
  }

  private endAnswered(now: number): void {
    for (const [request, since] of this.answered) {
      const isOver = request.complete || request.socket.destroyed;
      if (!isOver && now - since <= LINGER_MS) continue;
      this.answered.delete(request);
      if (!isOver) request.socket.destroy();
    }
  }

  private sendsTooLittle(exchange: Exchange, now: number): boolean {
    const { request, window, began } = exchange;
    // What nobody reads now waits for us.
    if (request.complete || request.readableFlowing !== true) {
      exchange.window = undefined;
      return false;
    }
    if (now - began > WHOLE_MS[this.classes.ofBody(request)]) return true;
    const received = request.socket.bytesRead;
    if (window && now - window.began < WINDOW_MS) return false;
    exchange.window = { began: now, received };
    return window !== undefined && received - window.received < LEAST_BYTES;
  }

  private takesTooLittle(
    response: ServerResponse,
    { request, unread, waited }: Exchange,
    now: number,
  ): boolean {
    if (waited > ANSWER_MS[this.classes.ofAnswer(request, response)]) return true;
    if (unread === undefined || now - unread.windowBegan < TAKEN_WINDOW_MS) return false;
    const taken = unread.taken - unread.takenBefore;
    [unread.windowBegan, unread.takenBefore] = [now, unread.taken];
    return taken < LEAST_TAKEN;
  }
}

/** Notes what was taken of an answer that waits. Bytes for a millisecond since the last look, if it waited then. */
function takenSinceLook({ socket }: ServerResponse, exchange: Exchange, now: number): number {
  const taken = takenOf(socket);
  const { unread } = exchange;
  if (unread === undefined) {
    exchange.unread = { at: now, taken, windowBegan: now, takenBefore: taken };
    return Infinity;
  }
  const since = Math.max(1, now - unread.at);
  const pace = (taken - unread.taken) / since;
  exchange.waited += since;
  [unread.at, unread.taken] = [now, taken];
  return pace;
}

/** What the system has taken for a peer. An answer behind another one has no connection yet, and waits for its peer too. */
function takenOf(socket: Socket | null): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
