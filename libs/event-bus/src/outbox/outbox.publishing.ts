import { TYPE_HEADER } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { TopicsMissing } from '../errors.js';
import type { Topics } from '../kafka/topics.js';
import type { BufferedRecord } from '../producing/record.buffer.js';
import { placeName, type Outcome, type RecordSending } from '../producing/record.sending.js';
import { PROOF_BYTES } from '../proof/proof-format.js';
import { within } from '../within.js';
import { HeldRows } from './held.rows.js';
import type { StoredMessage } from './outbox.js';

/** A row of the outbox. */
export interface OutboxRow {
  readonly organization_id: string;
  readonly id: string;
  readonly topic: string;
  readonly messages: StoredMessage[];
}

/** What became of rows. */
export interface Published {
  /** All their messages are written. */
  readonly gone: OutboxRow[];
  /** Some of their messages are; here with the others. */
  readonly shortened: OutboxRow[];
  /** How many messages were written, or are in rows that are passed over from now on. */
  readonly settled: number;
}

const SEND_TIMEOUT_MS = 10_000;
const LOOK_MS = 2_000;
/**
 * After so long no further request is made, and what is written is settled: the rows are held by a transaction, which
 * Postgres ends when it has been idle for 30 s.
 */
const PUBLISH_WITHIN_MS = 10_000;
/** One request's bytes: all may be of one partition, and the broker takes 1 MiB for one. */
const REQUEST_BYTES = 900_000;

/**
 * Publishes rows and settles them by partition: what one of them does not take stays, with all that follows it there,
 * and holds nothing else back.
 */
export class OutboxPublishing {
  private readonly held = new HeldRows();

  constructor(
    private readonly topics: Topics,
    private readonly sending: RecordSending,
  ) {}

  /** The ids of rows that wait for partitions that cannot be written now. */
  get heldIds(): string[] {
    return this.held.ids;
  }

  /** Lets go what has waited long enough; to be called before rows are taken. */
  async release(): Promise<void> {
    const now = Date.now();
    const due = this.held.due(now);
    if (due.length === 0) return;
    try {
      // Who leads may have changed, and the topic may have been made anew.
      this.topics.forget(due);
      await within(LOOK_MS, this.topics.ensure(due));
    } catch (error) {
      log.debug({ err: error }, 'It cannot be asked who leads partitions of the outbox');
    }
    this.held.release(now);
  }

  /**
   * Publishes rows in their order.
   * @throws when no broker answers and nothing was written
   */
  async publish(rows: readonly OutboxRow[]): Promise<Published> {
    const missing = await this.missingOf([...new Set(rows.map(({ topic }) => topic))]);
    const records = rows.map(recordsOf);
    if (missing.length > 0) this.holdBack(records.flat().filter(({ topic }) => missing.includes(topic)));
    const written = new Set<BufferedRecord>();
    const deadline = performance.now() + PUBLISH_WITHIN_MS;
    for (const request of requestsOf(records.flat())) {
      if (written.size > 0 && performance.now() > deadline) break;
      try {
        await this.send(request, written);
      } catch (error) {
        if (written.size === 0) throw error;
        log.debug({ err: error }, 'Kafka went away while the outbox was relayed');
        break;
      }
    }
    return this.settle(rows, records, written);
  }

  /** The topics that whose they are has not made yet. */
  private async missingOf(topics: readonly string[]): Promise<readonly string[]> {
    try {
      await this.topics.ensure(topics);
      return [];
    } catch (error) {
      if (error instanceof TopicsMissing) return error.topics;
      throw error;
    }
  }

  /** What is for a topic that is not there waits as what is for a partition that cannot be written, and holds up nothing. */
  private holdBack(records: readonly BufferedRecord[]): void {
    const places = new Map(records.map((record) => [this.placeOf(record), record.topic]));
    for (const [place, topic] of places)
      if (this.held.failed(place, topic, Date.now()) === 1)
        log.warn({ topic }, 'A topic is not there yet; what is for it waits in the outbox');
  }

  private async send(request: readonly BufferedRecord[], written: Set<BufferedRecord>): Promise<void> {
    const open = this.held.any ? request.filter((record) => !this.held.holds(this.placeOf(record))) : request;
    if (open.length === 0) return;
    const outcomes = await this.sending.send(open, this.patienceFor(open));
    const topics = [...new Set(open.map(({ topic }) => topic))];
    const silent = outcomes.every(({ answered }) => !answered);
    if (silent && !(await this.topics.othersAnswer(topics))) {
      this.topics.forget(topics);
      throw outcomes[0]?.error;
    }
    for (const outcome of outcomes) this.note(outcome, written);
  }

  /** Where nothing ails there is no need to ask which partitions these are for. */
  private patienceFor(records: readonly BufferedRecord[]): number {
    if (!this.held.ails) return SEND_TIMEOUT_MS;
    return this.held.patience(new Set(records.map((record) => this.placeOf(record))), SEND_TIMEOUT_MS);
  }

  private note({ place, error, answered }: Outcome, written: Set<BufferedRecord>): void {
    const { topic, partition, records } = place;
    const name = placeName(topic, partition);
    if (answered && error === undefined) {
      for (const record of records) written.add(record);
      if (this.held.written(name)) log.info({ topic, partition }, 'The outbox reaches a partition again');
      return;
    }
    const failures = this.held.failed(name, topic, Date.now());
    if (failures === 1)
      log.warn(
        { err: error, topic, partition },
        'The outbox does not reach a partition; what is for it waits',
      );
  }

  private settle(
    rows: readonly OutboxRow[],
    records: readonly BufferedRecord[][],
    written: ReadonlySet<BufferedRecord>,
  ): Published {
    const gone: OutboxRow[] = [];
    const shortened: OutboxRow[] = [];
    let passedOver = 0;
    for (const [at, row] of rows.entries()) {
      if (records[at]?.every((record) => written.has(record))) {
        gone.push(row);
        continue;
      }
      const rest = (records[at] ?? [])
        .map((record, index) => ({ record, message: row.messages[index] }))
        .filter(({ record }) => !written.has(record));
      if (rest.length < row.messages.length) {
        shortened.push({ ...row, messages: rest.flatMap(({ message }) => (message ? [message] : [])) });
      }
      // Only where all that is left of the row is held: the rest of it was not tried, and is next.
      const places = new Set(rest.map(({ record }) => this.placeOf(record)));
      const waits = [...places].every((place) => this.held.holds(place));
      if (waits && this.held.hold(row.id, places)) passedOver += rest.length;
    }
    return { gone, shortened, settled: written.size + passedOver };
  }

  private placeOf(record: BufferedRecord): string {
    return placeName(record.topic, this.sending.partitionOf(record));
  }
}

/** The messages of a row as records; those of one type share their headers. */
function recordsOf({ topic, messages }: OutboxRow): BufferedRecord[] {
  const headers = new Map<string, Record<string, string>>();
  return messages.map(([key, value, type]) => {
    if (type === undefined) return { topic, key, value };
    const known = headers.get(type) ?? { [TYPE_HEADER]: type };
    headers.set(type, known);
    return { topic, key, value, headers: known };
  });
}

function* requestsOf(records: readonly BufferedRecord[]): Generator<BufferedRecord[]> {
  let request: BufferedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = Buffer.byteLength(record.value) + 128 + PROOF_BYTES;
    if (bytes > 0 && bytes + size > REQUEST_BYTES) {
      yield request;
      request = [];
      bytes = 0;
    }
    request.push(record);
    bytes += size;
  }
  if (bytes > 0) yield request;
}
