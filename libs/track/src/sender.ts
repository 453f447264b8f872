import { type Answer, askedPause, judge, LONGEST_ASKED_MS, type Outcome, ownPause } from './answer.js';
import { bytesOf, EVENT_BYTES, type QueuedEvent } from './event.js';
import type { Environment } from './environment.js';

/** An attempt that failed. Nothing is lost by it. */
export interface Failure {
  /** The platform's code, else `no_answer` or `status_…`. */
  readonly code: string;
  /** 0 without an answer. */
  readonly status: number;
  /**
   * Until the next attempt; undefined if only `flush()` or the next page makes one, because the key, the address or the
   * right is wrong.
   */
  readonly retryInMs: number | undefined;
}

/** How events are sent. */
export interface SendingOptions {
  /** The platform: `https://events.example.com`. */
  url: string;
  /** An API key that may write events, and nothing else: whoever loads the page can read it. */
  key: string;
  /** Milliseconds from an event to its sending. Default 1,000. */
  flushAfterMs?: number;
  /** So many events are sent at once, without waiting. Default 50. */
  flushAt?: number;
  /** The longest pause between two attempts of one's own accord. Default 5 minutes. */
  maxPauseMs?: number;
  /** An attempt ends after so long. Default 30 s. */
  timeoutMs?: number;
}

/** Who is called with what became of events. */
export interface SendingListener {
  delivered(events: number): void;
  refused(event: QueuedEvent, code: string): void;
  failed(failure: Failure): void;
}

const BATCH_EVENTS = 500;
const BATCH_BYTES = 500 * 1024;
/** What browsers let all requests of a page carry that may outlive it is 64 KiB together (Fetch, "keepalive"). */
const KEEPALIVE_BYTES = 60 * 1024;
/** `{"events":[` and `]}` */
const AROUND_BYTES = 13;

/** Empties a queue into the platform: cut a batch → post → judge → remove what was answered, or wait. */
export class Sender {
  private readonly url: string;
  private readonly headers: Headers;
  /** Ids that were added here: those are handed over when the page is left; other pages send their own. */
  private readonly own = new Set<string>();
  private readonly inFlight = new Set<string>();
  private keptAliveBytes = 0;
  private batchBytes = BATCH_BYTES;
  private failures = 0;
  /** The platform asked not to be called before. */
  private notBefore = 0;
  private retryAt = 0;
  private isOn = false;
  private stopped = false;
  private cancel: (() => void) | undefined;
  private sending: Promise<void> | undefined;

  constructor(
    private readonly options: SendingOptions,
    private readonly environment: Environment,
    private readonly listener: SendingListener,
  ) {
    this.url = new URL('/v1/core/batch', options.url).href;
    // Throws now, and not at each attempt, where a key cannot be one: `cpk_live_…`, copied from a page that shortens it.
    this.headers = new Headers({
      authorization: `Bearer ${options.key}`,
      'content-type': 'application/json',
    });
  }

  /** Lets it send, and tells it that there may be something. */
  start(): void {
    this.isOn = true;
    if (this.environment.store.count > 0) this.schedule(0);
  }

  /** Ends sending; what is on its way is answered still. */
  pause(): void {
    this.isOn = false;
    this.unschedule();
  }

  /** An event is in the store. */
  added(id: string): void {
    this.own.add(id);
    if (this.failures > 0) return;
    const { flushAt = 50, flushAfterMs = 1_000 } = this.options;
    if (this.environment.store.count < flushAt) this.schedule(flushAfterMs);
    else this.schedule(0, true);
  }

  /** Resolves when the events of now are answered, or an attempt has failed. */
  async flush(): Promise<void> {
    this.stopped = false;
    // One that runs may be past the last look into the store.
    await this.sending;
    await this.send();
  }

  /** Resolves when nothing is on its way. */
  async settled(): Promise<void> {
    await this.sending;
  }

  /** The page may end now: its events go to the browser, which sends them without it. They stay stored until answered. */
  leave(): void {
    if (!this.maySend()) return;
    const mine = this.waiting().filter(({ id }) => this.own.has(id));
    const batch = cut(mine, KEEPALIVE_BYTES - this.keptAliveBytes);
    if (batch.length > 0) void this.deliver(batch, true).then(() => this.again());
  }

  /** The network is back, or the page is: no reason to wait any longer. */
  resume(): void {
    if (this.maySend()) this.schedule(0, true);
  }

  /** Events that are not on their way. */
  waiting(): QueuedEvent[] {
    return this.environment.store.list().filter(({ id }) => !this.inFlight.has(id));
  }

  private maySend(): boolean {
    return this.isOn && !this.stopped && this.until(this.notBefore) === 0;
  }

  private schedule(ms: number, sooner = false): void {
    if (!this.isOn || (this.cancel && !sooner)) return;
    this.unschedule();
    this.cancel = this.environment.later(ms, () => {
      this.cancel = undefined;
      void this.send();
    });
  }

  private unschedule(): void {
    this.cancel?.();
    this.cancel = undefined;
  }

  private send(): Promise<void> {
    this.unschedule();
    this.sending ??= this.environment
      .alone(() => this.drain())
      .finally(() => {
        this.sending = undefined;
        this.again();
      });
    return this.sending;
  }

  /** Another attempt at what is left, when it is time for one. */
  private again(): void {
    if (this.stopped || this.environment.store.count === 0) return;
    this.schedule(this.until(this.retryAt) || (this.options.flushAfterMs ?? 1_000));
  }

  /** Milliseconds until a time that a pause ends at. One that is too far off was meant by a clock that is set back since. */
  private until(time: number): number {
    const ms = Math.max(0, time - this.environment.now());
    return ms > LONGEST_ASKED_MS + this.maxPauseMs ? 0 : ms;
  }

  private get maxPauseMs(): number {
    return this.options.maxPauseMs ?? 300_000;
  }

  private async drain(): Promise<void> {
    while (this.maySend()) {
      const waiting = this.waiting();
      // One that is too large for any batch was written into the storage by somebody else: it goes, and is refused.
      const fitting = cut(waiting, this.batchBytes);
      const batch = fitting.length > 0 ? fitting : waiting.slice(0, 1);
      if (batch.length === 0) {
        if (this.inFlight.size === 0) this.own.clear();
        return;
      }
      // After a failure without: what a page may have outlive it is shared with all its scripts, and may be used up.
      const outlives = this.failures === 0 && this.keptAliveBytes + sizeOf(batch) <= KEEPALIVE_BYTES;
      if (!(await this.deliver(batch, outlives))) return;
    }
  }

  /** True if there is no reason to wait before the next. */
  private async deliver(batch: readonly QueuedEvent[], outlivesPage: boolean): Promise<boolean> {
    for (const { id } of batch) this.inFlight.add(id);
    const answer = await this.post(batch, outlivesPage);
    for (const { id } of batch) this.inFlight.delete(id);
    const outcome = judge(batch, answer);
    this.settle(outcome);
    if (outcome.rest === undefined) {
      this.failures = 0;
      return true;
    }
    if (outcome.rest === 'halves') {
      if (answer.status === 413)
        this.batchBytes = AROUND_BYTES + Math.max(EVENT_BYTES + 1, sizeOf(batch) / 2);
      const middle = Math.ceil(batch.length / 2);
      return (
        (await this.deliver(batch.slice(0, middle), outlivesPage)) &&
        this.deliver(batch.slice(middle), outlivesPage)
      );
    }
    this.fail(outcome, answer);
    return false;
  }

  private settle({ delivered, refused }: Outcome): void {
    const events = [...delivered, ...refused.map(({ event }) => event)];
    this.environment.store.remove(events.map(({ id }) => id));
    for (const { id } of events) this.own.delete(id);
    if (delivered.length > 0) this.failures = 0;
    this.listener.delivered(delivered.length);
    for (const { event, code } of refused) this.listener.refused(event, code);
  }

  private fail({ rest, code }: Outcome, { status, retryAfter }: Answer): void {
    const now = this.environment.now();
    let retryInMs: number | undefined;
    if (rest === 'stop' && this.environment.isPage) this.stopped = true;
    else {
      const asked = askedPause(retryAfter, now);
      const own =
        rest === 'stop'
          ? this.maxPauseMs
          : ownPause(this.failures, this.maxPauseMs, this.environment.random());
      this.failures += 1;
      this.notBefore = now + asked;
      this.retryAt = now + asked + own;
      retryInMs = asked + own;
    }
    this.listener.failed({ code, status, retryInMs });
  }

  private async post(batch: readonly QueuedEvent[], keepalive: boolean): Promise<Answer> {
    const bytes = keepalive ? sizeOf(batch) : 0;
    this.keptAliveBytes += bytes;
    const attempt = new AbortController();
    const cancel = this.environment.later(this.options.timeoutMs ?? 30_000, () => attempt.abort());
    try {
      const response = await this.environment.fetch(this.url, {
        method: 'POST',
        headers: this.headers,
        body: `{"events":[${batch.map(({ text }) => text).join(',')}]}`,
        keepalive,
        credentials: 'omit',
        // A redirect would turn the POST into a GET, or lead the key elsewhere.
        redirect: 'error',
        signal: attempt.signal,
      });
      const retryAfter = response.headers.get('retry-after');
      return { status: response.status, retryAfter, body: jsonOf(await response.text()) };
    } catch {
      // Offline, refused, cut off, too slow: one cannot tell, and it is all the same to the queue.
      return { status: 0 };
    } finally {
      cancel();
      this.keptAliveBytes -= bytes;
    }
  }
}

const sizeOf = (batch: readonly QueuedEvent[]): number =>
  batch.reduce((sum, { text }) => sum + bytesOf(text) + 1, AROUND_BYTES);

/** The first events that fit into one request. */
function cut(events: readonly QueuedEvent[], maxBytes: number): QueuedEvent[] {
  let left = maxBytes - AROUND_BYTES;
  const end = events.findIndex(({ text }, at) => (left -= bytesOf(text) + 1) < 0 || at >= BATCH_EVENTS);
  return end === -1 ? [...events] : events.slice(0, end);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
