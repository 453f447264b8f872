import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AuthorizationSource } from '@customer-platform/authorization';
import { kafkaConfig, readConfig, serviceConfig } from '@customer-platform/config';
import {
  Database,
  isTransient,
  ranOut,
  WriteConflict,
  type WorkerTransaction,
} from '@customer-platform/database';
import { RecordConsumers, type IncomingRecord } from '@customer-platform/event-bus';
import { RECORD_TOPICS } from '@customer-platform/events';
import { Batcher, log } from '@customer-platform/http';
import { decodeRecord, UnreadableRecord } from '../vocabulary/events/event-frame.js';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';
import { EventProcessor } from './event-processor.js';
import { FailingEvents } from './failing-events.js';
import { QueuePositions } from './queue-positions.js';
import { UnreadableRecords } from './unreadable-records.js';
import { readArrival, refused, type Arrival } from '../vocabulary/events/work-item.js';

/** The reader whose position says what has been processed. */
const WORKER = 'worker';

/** One transaction holds about so many events: enough to make each cheap, few enough to end within a second. */
const CHUNK_EVENTS = 800;
/** Records taken from a partition at once, at most; a record holds one event or several. */
const CHUNK_RECORDS = 500;
/** How long events wait for others of all partitions, to share a transaction. */
const LINGER_MS = 60;
/** While one transaction keeps Postgres busy, the next is prepared. */
const TRANSACTIONS = 2;
/**
 * How often a chunk that lost a race begins anew, within some five seconds, before its events are tried singly: what
 * loses every race is no race, and would hold up its partition for ever.
 */
const RACES = 12;
const LONGEST_PAUSE_MS = 1_000;

/** A record that runs out of time or memory alone so often does so for what it holds. */
const TRIES_ALONE = 3;
/** So many such records are remembered, at most; those forgotten are tried again. */
const MOST_REMEMBERED = 1_000;

/** How many acceptances one question may hold. */
const QUESTION_LIMIT = 1_000;
/** What an unconfirmed event needed of its key. */
const PERMISSIONS = { track: 'core.events.write', identify: 'core.contacts.write' } as const;

interface ReadRecord extends IncomingRecord {
  readonly arrivals: Arrival[];
  readonly unreadable?: Error;
}

/**
 * Takes accepted events off the queue and gives them their effect, exactly once: the position in the queue moves in
 * the transaction of the effect. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class IngestionWorker implements OnApplicationBootstrap {
  private readonly batcher = new Batcher<readonly ReadRecord[]>({
    waitMs: LINGER_MS,
    enough: CHUNK_EVENTS,
    parallel: TRANSACTIONS,
    run: (chunks) => this.processPieces(chunks.flat()),
  });

  /** How often records ran out of time or memory alone. */
  private readonly exhausted = new Map<string, number>();

  constructor(
    private readonly consumers: RecordConsumers,
    private readonly database: Database,
    private readonly positions: QueuePositions,
    private readonly registry: AuthorizationSource,
    private readonly processor: EventProcessor,
    private readonly failing: FailingEvents,
    private readonly unreadable: UnreadableRecords,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.consumers.consume({
      topic: INGESTION_TOPIC,
      group: RECORD_TOPICS[INGESTION_TOPIC].groups.worker,
      positions: this.positions.of(WORKER),
      chunkSize: CHUNK_RECORDS,
      // A partition waits while its events are batched; the others must not wait for it.
      concurrency: readConfig(kafkaConfig).KAFKA_PARTITIONS,
      eachChunk: (records, heartbeat) => this.take(records, heartbeat),
      takesUnproven: true,
    });
  }

  /**
   * Processes records of one partition, in order. Throws only while something it stands on is away; what can never be
   * processed is set aside.
   */
  async take(records: readonly IncomingRecord[], heartbeat: () => Promise<void>): Promise<void> {
    for (const chunk of chunksOf(read(records))) {
      await this.batcher.add(await this.confirmed(chunk), eventsOf(chunk));
      await heartbeat();
    }
  }

  /**
   * Asks the registry about events that were accepted while it was away (contract.md §5): one whose key was not valid
   * then, or might not send it, becomes a dead letter that is born closed.
   * @throws RegistryUnavailable while the registry is away: nothing unconfirmed may be stored
   */
  private async confirmed(records: ReadRecord[]): Promise<ReadRecord[]> {
    const unconfirmed = records.flatMap(({ arrivals }) => arrivals).filter(isUnconfirmed);
    const revoked = new Set<Arrival>();
    for (let at = 0; at < unconfirmed.length; at += QUESTION_LIMIT) {
      const asked = unconfirmed.slice(at, at + QUESTION_LIMIT);
      const verdicts = await this.registry.confirm(asked.map(acceptanceOf));
      asked.forEach((arrival, index) => {
        if (verdicts[index] !== true) revoked.add(arrival);
      });
    }
    if (revoked.size === 0) return records;
    return records.map((record) => ({
      ...record,
      arrivals: record.arrivals.map((arrival) => (revoked.has(arrival) ? refused(arrival) : arrival)),
    }));
  }

  /** Processes records of several partitions; those alone that are known to run out of time. */
  private async processPieces(records: readonly ReadRecord[]): Promise<void> {
    for (let rest = records; rest.length > 0;) {
      const at = rest.findIndex((record) => this.exhausted.has(placeOf(record)));
      const end = at === -1 ? rest.length : Math.max(1, at);
      await this.processHalves(rest.slice(0, end));
      rest = rest.slice(end);
    }
  }

  /**
   * In as few transactions as come through: what is too much for one is halved, until what runs out of time or memory
   * stands alone. That is tried a few times, for any statement might have met it; then its events are tried singly.
   */
  private async processHalves(records: readonly ReadRecord[]): Promise<void> {
    const [first] = records;
    if (!first) return;
    const place = placeOf(first);
    try {
      await this.process(records, (this.exhausted.get(place) ?? 0) >= TRIES_ALONE);
      this.exhausted.delete(place);
    } catch (error) {
      if (!ranOut(error)) throw error;
      if (records.length > 1) {
        const middle = records.length >> 1;
        await this.processHalves(records.slice(0, middle));
        return this.processHalves(records.slice(middle));
      }
      if (this.exhausted.size >= MOST_REMEMBERED) this.exhausted.clear();
      this.exhausted.set(place, (this.exhausted.get(place) ?? 0) + 1);
      throw error;
    }
  }

  /**
   * Processes records in one transaction.
   * @param isLast they ran out of time so often that it is the events' own fault
   */
  private async process(records: readonly ReadRecord[], isLast: boolean): Promise<void> {
    let singly = isLast;
    // Races that are lost, once more behind the last of them, and once singly.
    for (let races = 0, rest = RACES + 2; rest > 0; rest -= 1) {
      try {
        return await this.inTransaction(records, async (tx, arrivals) => {
          if (singly) await this.failing.process(tx, arrivals, isLast || races >= RACES);
          else await this.processor.process(tx, arrivals);
        });
      } catch (error) {
        if (isTransient(error)) throw error;
        if (error instanceof WriteConflict && races < RACES) {
          races += 1;
          singly ||= races === RACES;
          await pause(Math.min(5 * 2 ** (races - 1), LONGEST_PAUSE_MS));
          continue;
        }
        if (singly) throw error;
        log.warn(
          { err: error, records: records.length },
          'A chunk holds an event that fails; processing it singly',
        );
        singly = true;
      }
    }
  }

  private async inTransaction(
    records: readonly ReadRecord[],
    work: (tx: WorkerTransaction, arrivals: Arrival[]) => Promise<void>,
  ): Promise<void> {
    await this.database.acrossOrganizations(
      async (tx) => {
        const fresh = await this.positions.advance(tx, WORKER, INGESTION_TOPIC, records);
        for (const record of fresh) {
          if (record.unreadable) await this.unreadable.keep(INGESTION_TOPIC, record, record.unreadable, tx);
        }
        const arrivals = fresh.flatMap((record) => record.arrivals);
        if (arrivals.length > 0) await work(tx, arrivals);
      },
      { byKeys: true },
    );
  }
}

/** One after the other, as they are taken: a backlog read at once would keep requests waiting. */
function* read(records: readonly IncomingRecord[]): Generator<ReadRecord> {
  for (const record of records) yield readRecord(record);
}

function readRecord(record: IncomingRecord): ReadRecord {
  if (record.unproven) return { ...record, arrivals: [], unreadable: record.unproven };
  try {
    const events = decodeRecord(record.value);
    return { ...record, arrivals: events.map((event) => readArrival(event, record.partition)) };
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    return { ...record, arrivals: [], unreadable: error };
  }
}

function placeOf({ partition, offset }: IncomingRecord): string {
  return `${partition} ${offset}`;
}

function isUnconfirmed({ unconfirmedKey }: Arrival): boolean {
  return unconfirmedKey !== undefined;
}

function acceptanceOf({ unconfirmedKey = '', receivedAt, kind }: Arrival) {
  return { key_hash: unconfirmedKey, accepted_at: receivedAt, permission: PERMISSIONS[kind] };
}

function eventsOf(records: readonly ReadRecord[]): number {
  return records.reduce((events, { arrivals }) => events + arrivals.length, 0);
}

/** Runs of records for one transaction; what is confirmed does not wait for the registry with what is not. */
function* chunksOf(records: Iterable<ReadRecord>): Generator<ReadRecord[]> {
  let chunk: ReadRecord[] = [];
  for (const record of records) {
    const [first] = chunk;
    const full = eventsOf(chunk) + record.arrivals.length > CHUNK_EVENTS;
    if (first && (full || first.arrivals.some(isUnconfirmed) !== record.arrivals.some(isUnconfirmed))) {
      yield chunk;
      chunk = [];
    }
    chunk.push(record);
  }
  if (chunk.length > 0) yield chunk;
}
