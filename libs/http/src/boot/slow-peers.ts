import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a body may take in all, of which class it is. */
export type BodyClass = 'event' | 'ordinary' | 'file';

/**
 * A body that is read brings so much over each window. The gateway asks as much of callers in each 10 s, which begin at
 * other times: what is quick enough there is so here.
 */
const LEAST_BYTES = 10 * 1024;
const WINDOW_MS = 30_000;
const WHOLE_MS: Readonly<Record<BodyClass, number>> = { event: 15_000, ordinary: 60_000, file: Infinity };

/** An answer of which nothing is taken for so long is cut off; the gateway waits for readers for half of that. */
const LONGEST_STILL_MS = 300_000;

/** What answers that are not taken may hold of the process, in bytes. */
const ROOM = 64 << 20;

/** How often it is to be looked, in milliseconds. */
export const LOOK_EVERY_MS = 10_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly began: number;
  /** What its connection had brought when the window of its body began; undefined while nobody reads. */
  window: { began: number; received: number } | undefined;
  /** What had been taken of its answer at the last look, if there was one, and since when it has been no more. */
  taken: number | undefined;
  stillSince: number;
}

/**
 * The exchanges of a listener whose peer neither sends nor takes. Behind the gateway that has let go of such callers
 * before; where a listener stands alone they would hold its connections, and what is written to them its memory. They are
 * looked at all together: no request has a timer of its own.
 */
export class SlowPeers {
  private readonly exchanges = new Map<ServerResponse, Exchange>();

  constructor(
    private readonly classOf: (request: IncomingMessage) => BodyClass,
    private readonly tooSlow: (request: IncomingMessage) => void,
    private readonly room = ROOM,
  ) {}

  begin(request: IncomingMessage, response: ServerResponse, now: number): void {
    this.exchanges.set(response, {
      request,
      began: now,
      window: undefined,
      taken: undefined,
      stillSince: now,
    });
  }

  end(response: ServerResponse): void {
    this.exchanges.delete(response);
  }

  look(now: number): void {
    const still: ServerResponse[] = [];
    let held = 0;
    for (const [response, exchange] of this.exchanges) {
      if (this.sendsTooLittle(exchange, now)) this.tooSlow(exchange.request);
      else if (takesNothing(response, exchange, now)) {
        if (now - exchange.stillSince > LONGEST_STILL_MS) response.destroy();
        else {
          held += response.writableLength;
          still.push(response);
        }
      }
    }
    still.sort((one, other) => other.writableLength - one.writableLength);
    for (const response of still) {
      if (held <= this.room) return;
      held -= response.writableLength;
      response.destroy();
    }
  }

  private sendsTooLittle(exchange: Exchange, now: number): boolean {
    const { request, window, began } = exchange;
    // What nobody reads now waits for us.
    if (request.complete || request.readableFlowing !== true) {
      exchange.window = undefined;
      return false;
    }
    if (now - began > WHOLE_MS[this.classOf(request)]) return true;
    const received = request.socket.bytesRead;
    if (window && now - window.began < WINDOW_MS) return false;
    exchange.window = { began: now, received };
    return window !== undefined && received - window.received < LEAST_BYTES;
  }
}

/** Whether an answer waits of which nothing was taken since the last look. */
function takesNothing(response: ServerResponse, exchange: Exchange, now: number): boolean {
  const taken = takenOf(response.socket);
  const isStill = response.writableLength > 0 && taken === exchange.taken;
  if (!isStill) exchange.stillSince = now;
  exchange.taken = taken;
  return isStill;
}

/** What the system has taken for a peer. An answer behind another one has no connection yet, and waits for its peer too. */
function takenOf(socket: Socket | null): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
