import { QueueUnavailable, RecordTooLarge } from '../errors.js';
import { PROOF_BYTES } from '../proof/proof-format.js';

/** A record to be sent. */
export interface BufferedRecord {
  readonly topic: string;
  /** Chosen by whoever sends it, or by its key once the topic is known. */
  partition?: number;
  readonly key?: string;
  readonly value: Buffer | string;
  readonly headers?: Record<string, Buffer | string>;
  /** Since when it has waited, in milliseconds since 1970, where it was batched before it came here. */
  readonly since?: number;
  /** What to send in its place where the broker refuses it for its size; undefined where it cannot be smaller. */
  readonly parts?: () => readonly Part[] | undefined;
}

/** A part of a record, in what it differs from the whole. */
export type Part = Pick<BufferedRecord, 'value' | 'parts'>;

/** One request takes at most this many records … */
const BATCH_RECORDS = 500;
/** … and bytes: all may be of one partition, and the broker takes 1 MiB for one. */
const BATCH_BYTES = 900_000;
/** What may be unsettled of one buffer; beyond it a record is refused at once. */
const BUFFER_BYTES = 32 * 1024 * 1024;

/** A record with whoever waits for its fate, which is told once. */
class Waiter {
  readonly since: number;
  readonly bytes: number;
  readonly fate: Promise<void>;
  private readonly fulfil: () => void;
  private readonly fail: (error: Error) => void;
  private told = false;

  constructor(
    readonly record: BufferedRecord,
    /** Called once its fate is told, by whichever buffer holds it then. */
    public settled: (waiter: Waiter) => void,
  ) {
    this.since = record.since ?? Date.now();
    this.bytes = Buffer.byteLength(record.value) + (record.key?.length ?? 0) + 64 + PROOF_BYTES;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    this.fate = promise;
    this.fulfil = () => {
      resolve(undefined);
    };
    this.fail = reject;
  }

  get open(): boolean {
    return !this.told;
  }

  tell(error?: Error): void {
    if (this.told) return;
    this.told = true;
    this.settled(this);
    if (error) this.fail(error);
    else this.fulfil();
  }
}

/** Records in the order in which they came: those that wait, and the batch that is being sent. */
export class RecordBuffer {
  private waiting: Waiter[] = [];
  private flying: Waiter[] = [];
  private bytes = 0;
  private unsettledCount = 0;
  private limit = BATCH_RECORDS;
  private wake: (() => void) | undefined;
  private readonly emptied: (() => void)[] = [];

  /** How many wait, not counting the batch that is being sent. */
  get size(): number {
    return this.waiting.length;
  }

  /** How many have not been told their fate, the batch that is being sent included. */
  get unsettled(): number {
    return this.unsettledCount;
  }

  /** Whether no more may be added. */
  get full(): boolean {
    return this.bytes >= BUFFER_BYTES;
  }

  /** Adds a record; the promise settles with its fate. */
  add(record: BufferedRecord): Promise<void> {
    const waiter = new Waiter(record, this.settled);
    this.hold(waiter);
    return waiter.fate;
  }

  /** Whether one of those that wait, or are being sent, is such a record. */
  some(which: (record: BufferedRecord) => boolean): boolean {
    const matches = ({ record, open }: Waiter): boolean => open && which(record);
    return this.flying.some(matches) || this.waiting.some(matches);
  }

  /** Hands such records to another buffer, in their order; how long they have waited goes with them. */
  moveTo(other: RecordBuffer, which: (record: BufferedRecord) => boolean): void {
    const moved = [...this.flying, ...this.waiting].filter(({ record }) => which(record));
    this.flying = this.flying.filter(({ record }) => !which(record));
    this.waiting = this.waiting.filter(({ record }) => !which(record));
    for (const waiter of moved) {
      if (!waiter.open) continue;
      this.settled(waiter);
      waiter.settled = other.settled;
      other.hold(waiter);
    }
  }

  private readonly settled = ({ bytes }: Waiter): void => {
    this.bytes -= bytes;
    this.unsettledCount -= 1;
    if (this.unsettledCount === 0) for (const run of this.emptied.splice(0)) run();
  };

  private hold(waiter: Waiter): void {
    this.bytes += waiter.bytes;
    this.unsettledCount += 1;
    this.waiting.push(waiter);
    if (this.waiting.length >= this.limit) this.wake?.();
  }

  /** Resolves when a full batch waits or the oldest record has waited `lingerMs`. */
  async filled(lingerMs: number): Promise<void> {
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

  /** Takes the next batch to be sent, oldest first. Its fate is told by `landed`, `refused`, `moveTo` and `putBack`. */
  take(): BufferedRecord[] {
    let bytes = 0;
    let count = 0;
    for (const waiter of this.waiting) {
      bytes += waiter.bytes;
      if (count > 0 && (count >= this.limit || bytes > BATCH_BYTES)) break;
      count += 1;
    }
    this.limit = BATCH_RECORDS;
    this.flying = this.waiting.splice(0, count);
    return this.flying.map(({ record }) => record);
  }

  /** These records of the batch are written. */
  landed(records: readonly BufferedRecord[]): void {
    for (const waiter of this.land(records)) waiter.tell();
  }

  /** These records of the batch will never be taken as they are: what they can be parted into stands in their place. */
  refused(records: readonly BufferedRecord[], error: Error): void {
    const refused = new Set(records);
    this.flying = this.flying.flatMap((waiter) => {
      if (!refused.has(waiter.record)) return [waiter];
      const parts = error instanceof RecordTooLarge && waiter.open ? waiter.record.parts?.() : undefined;
      if (parts) return this.inPlaceOf(waiter, parts);
      waiter.tell(error);
      return [];
    });
  }

  /** What is left of the batch was not sent: what still has time goes back to the head; the next take holds at most `limit` records. */
  putBack(limit = BATCH_RECORDS): void {
    this.waiting = [...this.flying.splice(0).filter(({ open }) => open), ...this.waiting];
    this.limit = limit;
  }

  /** Tells those that have waited too long, those being sent included; returns how many. */
  refuseOlderThan(ms: number): number {
    const before = Date.now() - ms;
    const late = [...this.flying, ...this.waiting].filter(({ since, open }) => open && since <= before);
    if (late.length === 0) return 0;
    for (const waiter of late) waiter.tell(new QueueUnavailable());
    this.waiting = this.waiting.filter(({ open }) => open);
    return late.length;
  }

  /** Resolves when every record is settled; what is left after `ms` is refused. */
  async drained(ms: number): Promise<void> {
    if (this.unsettledCount === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.emptied.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.refuseOlderThan(0);
  }

  /** The fate of the whole is that of its parts; they have waited for as long. */
  private inPlaceOf(whole: Waiter, parts: readonly Part[]): Waiter[] {
    const { record, since } = whole;
    const waiters = parts.map(
      (part) => new Waiter({ ...record, parts: undefined, ...part, since }, this.settled),
    );
    for (const { bytes } of waiters) this.bytes += bytes;
    this.unsettledCount += waiters.length;
    this.settled(whole);
    whole.settled = () => undefined;
    Promise.all(waiters.map(({ fate }) => fate)).then(
      () => whole.tell(),
      (error: unknown) => whole.tell(error as Error),
    );
    return waiters;
  }

  private land(records: readonly BufferedRecord[]): Waiter[] {
    const settled = new Set(records);
    const landed = this.flying.filter(({ record }) => settled.has(record));
    this.flying = this.flying.filter(({ record }) => !settled.has(record));
    return landed;
  }
}
