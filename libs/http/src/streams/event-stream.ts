import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@customer-platform/problem-json';
import { hasState, stateOf } from '../context/request-state.js';

const HEAD = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Whatever stands between passes it on as it comes, and keeps nothing.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Characters that are held at most. */
const HELD_AT_MOST = 16 * 1024;

/** One event of a stream; texts without line breaks, but for `data`. */
interface ServerSentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** As it stands in a stream: of many that are told the same, made once. */
export function serverSentText({ id, event, data }: ServerSentEvent): string {
  const lines: string[] = [];
  if (id !== undefined) lines.push(`id: ${id}`);
  if (event !== undefined) lines.push(`event: ${event}`);
  if (data !== undefined) for (const line of data.split(/\r\n|\r|\n/)) lines.push(`data: ${line}`);
  return `${lines.join('\n')}\n\n`;
}

const streams = new WeakMap<ServerResponse, EventStream>();

/** The stream that a response is, if it is one. */
export function eventStreamOf(response: ServerResponse): EventStream | undefined {
  return streams.get(response);
}

/**
 * An answer of server-sent events (HTML, §9.2), which lasts until the reader or the writer ends it, or the app is to end:
 * then at once, for a reader comes back to another instance.
 */
export class EventStream {
  /** When it began, by `performance.now()`. */
  readonly openedAt = performance.now();

  /**
   * Sends the head. From here on nothing that is thrown reaches the reader.
   * @throws Problem `shutting_down`
   */
  static open(request: IncomingMessage, response: ServerResponse): EventStream {
    if (hasState(request) && stateOf(request).isDraining()) throw new Problem('shutting_down');
    const stream = new EventStream(response);
    streams.set(response, stream);
    response.writeHead(200, HEAD);
    response.flushHeaders();
    return stream;
  }

  /** What was sent and waits to go out with more; undefined where nothing waits. */
  private held: string | undefined;

  private constructor(private readonly response: ServerResponse) {
    response.on('error', () => response.destroy());
  }

  /** Whether nobody reads it any more, or nobody writes it. */
  get ended(): boolean {
    return this.response.writableEnded || this.response.destroyed;
  }

  /** About how many bytes the reader has not taken yet. */
  get waiting(): number {
    return this.response.writableLength + (this.held?.length ?? 0);
  }

  /** Sends one event, or the text of some. */
  send(event: ServerSentEvent | string): void {
    const text = typeof event === 'string' ? event : serverSentText(event);
    if (this.held === undefined) this.write(text);
    else if ((this.held += text).length > HELD_AT_MOST) this.held = this.write(this.held);
  }

  /** From here on what is sent waits for more, or for {@link letGo}: a write costs more than what is written. */
  hold(): void {
    this.held ??= '';
  }

  /** Sends what was held. */
  letGo(): void {
    if (this.held !== undefined) this.write(this.held);
    this.held = undefined;
  }

  /** @returns what waits then */
  private write(text: string): '' {
    if (text !== '' && !this.ended) this.response.write(text);
    return '';
  }

  /** Nothing to a reader, but something to all that would take a silent connection for a dead one. */
  comment(): void {
    this.send(':\n\n');
  }

  /** Ends it; a reader that takes nothing any more is not waited for. */
  end(): void {
    if (this.ended) return;
    this.letGo();
    this.response.shouldKeepAlive = false;
    if (this.waiting > 0) this.response.destroy();
    else this.response.end();
  }

  /** Runs once nobody reads it any more, whoever ended it; at once if that is so. */
  onEnd(run: () => void): void {
    if (this.response.closed) run();
    else this.response.once('close', run);
  }

  /** Resolves when the reader has taken what waited, or is gone; or after so long, if that is given. */
  async drained(withinMs?: number): Promise<void> {
    if (this.ended || !this.response.writableNeedDrain) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.response.once('drain', resolve).once('close', resolve);
    const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs).unref();
    await promise;
    clearTimeout(timer);
    this.response.off('drain', resolve).off('close', resolve);
  }
}
