import { QueueUnavailable } from '../errors.js';

/** One record and whoever waits for its acknowledgement. */
export interface Waiter {
  readonly topic: string;
  readonly partition?: number;
  readonly key?: string;
  readonly value: Buffer | string;
  readonly headers?: Record<string, string>;
  readonly bytes: number;
  /** When it came, in milliseconds. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** One request takes at most this many records … */
const BATCH_RECORDS = 500;
/** … and bytes: all may be of one partition, and the broker takes 1 MiB for one. */
const BATCH_BYTES = 900_000;
/** What may wait in all; beyond it a record is refused at once. */
const BUFFER_BYTES = 32 * 1024 * 1024;

/** Records in the order in which they came, each settled exactly once. */
export class RecordBuffer {
  private waiting: Waiter[] = [];
  private bytes = 0;
  private open = 0;
  private limit = BATCH_RECORDS;
  private wake: (() => void) | undefined;
  private readonly emptied: (() => void)[] = [];

  /** How many wait, not counting those in flight. */
  get size(): number {
    return this.waiting.length;
  }

  /** How many are not settled, those in flight included. */
  get unsettled(): number {
    return this.open;
  }

  /** Whether no more may be added. */
  get full(): boolean {
    return this.bytes >= BUFFER_BYTES;
  }

  /** Adds a record; the promise settles with its fate. */
  add(record: Omit<Waiter, 'resolve' | 'reject' | 'since' | 'bytes'>): Promise<void> {
    const bytes = Buffer.byteLength(record.value) + (record.key?.length ?? 0) + 64;
    return new Promise<void>((resolve, reject) => {
      this.bytes += bytes;
      this.open += 1;
      const settle = (): void => {
        this.bytes -= bytes;
        this.open -= 1;
        if (this.open === 0)
          this.emptied.splice(0).forEach((run) => {
            run();
          });
      };
      this.waiting.push({
        ...record,
        bytes,
        since: Date.now(),
        resolve: () => {
          settle();
          resolve();
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      if (this.waiting.length >= this.limit) this.wake?.();
    });
  }

  /** Resolves when a full batch waits or the oldest record has waited `lingerMs`. */
  async gathered(lingerMs: number): Promise<void> {
    const [oldest] = this.waiting;
    if (!oldest || this.waiting.length >= this.limit) return;
    const left = lingerMs - (Date.now() - oldest.since);
    if (left <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = undefined;
  }

  /** Takes the next batch out, oldest first. */
  take(): Waiter[] {
    let bytes = 0;
    let count = 0;
    for (const waiter of this.waiting) {
      bytes += waiter.bytes;
      if (count > 0 && (count >= this.limit || bytes > BATCH_BYTES)) break;
      count += 1;
    }
    this.limit = BATCH_RECORDS;
    return this.waiting.splice(0, count);
  }

  /** Puts a batch that was not sent back to the head; the next take holds at most `limit` records. */
  putBack(batch: Waiter[], limit = BATCH_RECORDS): void {
    this.waiting = [...batch, ...this.waiting];
    this.limit = limit;
  }

  /** Tells those who have waited too long. */
  refuseOlderThan(ms: number): void {
    const before = Date.now() - ms;
    const count = this.waiting.findIndex(({ since }) => since > before);
    this.refuse(this.waiting.splice(0, count < 0 ? this.waiting.length : count));
  }

  /** Tells all who wait. */
  refuseAll(): void {
    this.refuse(this.waiting.splice(0));
  }

  /** Resolves when every record is settled, or after `ms`. */
  async drained(ms: number): Promise<void> {
    if (this.open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.emptied.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private refuse(waiters: Waiter[]): void {
    for (const { reject } of waiters) reject(new QueueUnavailable());
  }
}
