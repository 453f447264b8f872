import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { databaseConfig, readConfig, serviceConfig } from '@customer-platform/config';
import {
  Clock,
  Database,
  isTransient,
  jsons,
  postgresFailure,
  type Transaction,
} from '@customer-platform/database';
import { ItemBackoff, log, SteadyLoop } from '@customer-platform/http';
import { mayBeOfOneEvent } from '../errors.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { ProducerLine } from '../producing/producer.line.js';
import { RecordProofs } from '../proof/record-proofs.js';
import { RecordSending } from '../producing/record.sending.js';
import { pause, within } from '../within.js';
import { watchAge } from './outbox.age.js';
import { OutboxListener } from './outbox.listener.js';
import { OutboxPublishing, type OutboxRow, type Published } from './outbox.publishing.js';
import { OutboxSignal } from './outbox.signal.js';
import { BY_INDEX, SHARDS } from './shards.js';

/** How many shards one relay takes of a backlog at once; the rest is left to relays of other processes. */
const SHARDS_OF_BACKLOG = SHARDS / 2;
/** What one shard gives at once, at most: so many rows, and about so many bytes. */
const ROWS_PER_SHARD = 64;
const BYTES_PER_SHARD = 256 * 1024;
/** After so many messages more may wait already. */
const ENOUGH_MESSAGES = 500;
/** How soon it looks again at rows that are another relay's at the moment, or that a partition does not take. */
const LOOK_AGAIN_MS = 250;
/** Whoever appends tells the relay; it looks by itself for what nobody could tell of, for one that died just then. */
const LOOK_UNTOLD_MS = 2_000;
/** How long the rows of one transaction wait for those of others, to share a look, a request and a commit. */
const LINGER_MS = 20;
/** A shutdown has 10 s in all. */
const STOP_MS = 3_000;
/** An outage is told when it begins and then about every half minute. */
const SAY_EVERY = 75;
const OUTAGE_PAUSE_MS = [100, 200, 400];
/** First of the two numbers of the advisory locks that the shards are. */
const LOCK_SPACE = 0x6f626f78;

/**
 * Locks shards that wait and are free, and says whether any waits at all. The order makes the index give one row of
 * each shard: with EXISTS the planner, which takes the table for an empty one, reads all rows of a backlog each time.
 * What is locked is read by the next statement: the snapshot of this one may show rows that another relay, which held
 * the lock until now, has just published.
 */
const lockShards = (most: number): string => `
  WITH waiting AS MATERIALIZED (
    SELECT shard FROM generate_series(0, ${String(SHARDS - 1)}) AS shard
     WHERE (SELECT true FROM outbox WHERE outbox.shard = shard.shard ORDER BY outbox.id LIMIT 1)
     ORDER BY random()),
  taken AS MATERIALIZED (
    SELECT shard FROM waiting WHERE pg_try_advisory_xact_lock(${String(LOCK_SPACE)}, shard) LIMIT ${String(most)})
  SELECT ARRAY(SELECT shard FROM taken) AS taken, EXISTS (SELECT FROM waiting) AS waiting`;
const LOCK_SHARDS = lockShards(SHARDS);
const LOCK_SOME_SHARDS = lockShards(SHARDS_OF_BACKLOG);

/** One of them, if it is free. */
const lockShard = (shard: number): string => `
  SELECT CASE WHEN pg_try_advisory_xact_lock(${String(LOCK_SPACE)}, ${String(shard)})
              THEN ARRAY[${String(shard)}] ELSE '{}' END AS taken, true AS waiting`;

/**
 * A shard gives its first row and as many more as stay within the bound; after an outage rows are many and small, so a
 * bound by their number would make the backlog crawl. What is stored as it is is measured without being read; only what
 * an older release's table packed is unpacked for it, since a packed row may be a hundred times what it takes up. Rows
 * that wait for a partition that cannot be written are passed over.
 */
const TAKE = `
  SELECT head.organization_id, head.id, head.topic, head.messages
    FROM unnest($1::smallint[]) AS taken (shard)
   CROSS JOIN LATERAL (
     SELECT waiting.*, sum(waiting.size) OVER (ORDER BY waiting.id) AS total
       FROM (SELECT organization_id, id, topic, messages,
                    CASE WHEN pg_column_compression(messages) IS NULL THEN pg_column_size(messages)
                         ELSE octet_length(messages::text) END AS size FROM outbox
              WHERE outbox.shard = taken.shard AND outbox.id <> ALL ($2::bigint[])
              ORDER BY id LIMIT ${String(ROWS_PER_SHARD)}) AS waiting) AS head
   WHERE head.total - head.size < ${String(BYTES_PER_SHARD)}`;

const FORGET = `
  DELETE FROM outbox USING unnest($1::uuid[], $2::bigint[]) AS gone (organization_id, id)
   WHERE outbox.organization_id = gone.organization_id AND outbox.id = gone.id`;

const SHORTEN = `
  UPDATE outbox SET messages = rest.messages
    FROM unnest($1::uuid[], $2::bigint[], $3::json[]) AS rest (organization_id, id, messages)
   WHERE outbox.organization_id = rest.organization_id AND outbox.id = rest.id`;

/** What a look at the outbox came to. */
interface Look {
  /** How many messages were written, or are passed over from now on. */
  readonly settled: number;
  /** Whether rows wait that this relay could not take, or not publish. */
  readonly waiting: boolean;
  /** No shard could be taken: others have those that wait. */
  readonly isElsewhere?: boolean;
}

const NOTHING: Look = { settled: 0, waiting: false };
/** The name of the work in metrics and log lines. */
const NAME = 'outbox-relay';
/** Of the time that a shard's failure takes, the others have so much more before another that fails is tried. */
const TIMES = 2;

/** After a failure: what was too much at once may be borne in halves. */
const MUCH: Look = { settled: ENOUGH_MESSAGES, waiting: true };

/**
 * Publishes what transactions left in the outbox. A shard is relayed by one relay at a time (an advisory lock for the
 * length of the transaction), in the order of its rows: take, publish with `acks=-1`, delete what was written, commit.
 * A crash in between publishes again; consumers recognise repeats. Several processes share the shards. A shard with a row
 * that cannot be read or deleted waits by itself, is told and tried again; the others go on.
 */
@Injectable()
export class OutboxRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly line: ProducerLine;
  private readonly publishing: OutboxPublishing;
  private stopping = false;
  private running: Promise<void> | undefined;
  private raised = false;
  private wake: (() => void) | undefined;
  private listener: OutboxListener | undefined;
  private unwatch: (() => void) | undefined;
  private readonly loop = new SteadyLoop({ name: NAME, takes: 'rows of outbox' });
  /** Shards that fail by themselves, and when the next of them may be tried. */
  private readonly failing = new Set<number>();
  private readonly backoff: ItemBackoff;
  private restsUntil = 0;

  constructor(
    private readonly database: Database,
    private readonly signal: OutboxSignal,
    client: KafkaClient,
    topics: Topics,
    proofs: RecordProofs,
    clock: Clock,
  ) {
    this.backoff = new ItemBackoff(NAME, clock);
    this.line = new ProducerLine(() => client.producer());
    this.publishing = new OutboxPublishing(topics, new RecordSending(client, topics, this.line, proofs));
  }

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE !== 'api') this.start();
  }

  /** Begins relaying, whether Kafka and Postgres are there yet or not. */
  start(): void {
    if (this.running) return;
    const raise = (): void => {
      this.raised = true;
      this.wake?.();
    };
    this.signal.listen(raise);
    this.listener = new OutboxListener(readConfig(databaseConfig).DATABASE_URL, raise);
    this.listener.start();
    this.unwatch = watchAge(this.database);
    this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.unwatch?.();
    this.wake?.();
    try {
      await within(STOP_MS, this.running ?? Promise.resolve());
    } catch (error) {
      log.warn(
        { err: error },
        'The relay is stopped while Kafka owes it an answer; the rows stay and are sent again',
      );
    }
    await this.listener?.stop();
    await this.line.close();
  }

  private async run(): Promise<void> {
    let last = NOTHING;
    let failures = 0;
    const turn = async (): Promise<void> => {
      try {
        await this.line.connect();
        this.raised = false;
        last = await this.relayAll(last.settled >= ENOUGH_MESSAGES);
        failures = 0;
        if (last.settled === 0) await this.idle(last.waiting ? LOOK_AGAIN_MS : LOOK_UNTOLD_MS);
        if (last.settled < ENOUGH_MESSAGES && !this.stopping) await pause(LINGER_MS);
      } catch (error) {
        last = MUCH;
        if (failures % SAY_EVERY === 0)
          log.warn({ err: error, failures }, 'The outbox cannot be relayed; trying again');
        await this.idle(
          OUTAGE_PAUSE_MS[Math.min(failures, OUTAGE_PAUSE_MS.length - 1)] ?? LOOK_AGAIN_MS,
          true,
        );
        failures += 1;
      }
    };
    await this.loop.run(() => this.stopping, turn);
  }

  /** Where a row of them fails, each shard by itself. */
  private async relayAll(backlog: boolean): Promise<Look> {
    if (this.failing.size > 0) await this.tryFailing();
    try {
      return await this.relayOnce(backlog ? LOCK_SOME_SHARDS : LOCK_SHARDS);
    } catch (error) {
      if (!isOfRows(error)) throw error;
      let settled = 0;
      for (let shard = 0; shard < SHARDS && !this.stopping; shard += 1)
        if (!this.failing.has(shard)) settled += await this.relayAlone(shard);
      // What not one of them is spared, those without rows included, is no row's doing.
      if (this.failing.size === SHARDS) {
        this.failing.clear();
        throw error;
      }
      return { settled, waiting: true };
    }
  }

  /** One at a time, and not before the others have had their part of the time. */
  private async tryFailing(): Promise<void> {
    if (performance.now() < this.restsUntil) return;
    const due = [...this.failing].find((shard) => !this.backoff.waits(nameOf(shard)));
    if (due !== undefined) await this.relayAlone(due);
  }

  /** @returns how many messages were settled */
  private async relayAlone(shard: number): Promise<number> {
    const began = performance.now();
    try {
      const { settled, isElsewhere } = await this.relayOnce(lockShard(shard), shard);
      if (isElsewhere) return 0;
      this.failing.delete(shard);
      this.backoff.passed(nameOf(shard));
      return settled;
    } catch (error) {
      if (!isOfRows(error)) throw error;
      this.failing.add(shard);
      this.backoff.failed(nameOf(shard), error);
      const now = performance.now();
      this.restsUntil = now + TIMES * (now - began);
      return 0;
    }
  }

  /**
   * Relays the heads of the shards that wait and are free: a statement takes them, a request publishes them, a statement
   * settles them, of however many organizations they are.
   * @param alone a shard that is tried by itself: what cannot be deleted is not published
   */
  private async relayOnce(question: string, alone?: number): Promise<Look> {
    await this.publishing.release();
    return this.database.acrossOrganizations(
      async (tx, answer): Promise<Look> => {
        const { taken, waiting } = answer as unknown as { taken: number[]; waiting: boolean };
        if (taken.length === 0) return { settled: 0, waiting, isElsewhere: true };
        const shards = alone === undefined ? taken.filter((shard) => !this.failing.has(shard)) : taken;
        const rows = await tx.prepared<OutboxRow>(TAKE, [shards, this.publishing.heldIds]);
        if (rows.length === 0) return { settled: 0, waiting: true };
        rows.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
        if (alone !== undefined) await this.tryToForget(tx, rows);
        const published = await this.publishing.publish(rows);
        await this.settle(tx, published);
        return { settled: published.settled, waiting: true };
      },
      { onePlan: true, settings: BY_INDEX, question },
    );
  }

  /** What would be published anew with each try is found out before. */
  private async tryToForget(tx: Transaction, rows: readonly OutboxRow[]): Promise<void> {
    await tx.query('SAVEPOINT trying');
    await tx.prepared(FORGET, keysOf(rows));
    await tx.query('ROLLBACK TO SAVEPOINT trying');
  }

  private async settle(tx: Transaction, { gone, shortened }: Published): Promise<void> {
    if (gone.length > 0) await tx.prepared(FORGET, keysOf(gone));
    if (shortened.length === 0) return;
    const rest = jsons(shortened.map(({ messages }) => JSON.stringify(messages)));
    await tx.query(SHORTEN, [...keysOf(shortened), rest]);
  }

  /** Waits until something is appended, at most `ms`; during an outage appends do not wake it. */
  private async idle(ms: number, outage = false): Promise<void> {
    if (this.stopping || (this.raised && !outage)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        if (outage && !this.stopping) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = undefined;
  }
}

function keysOf(rows: readonly OutboxRow[]): [string[], string[]] {
  return [rows.map(({ organization_id: organizationId }) => organizationId), rows.map(({ id }) => id)];
}

/** As a shard is told of. */
function nameOf(shard: number): string {
  return `shard ${String(shard)}`;
}

/**
 * Whether a statement failed for what it met in its rows, or may have: time limits, and locks on them that others hold. Not
 * where PostgreSQL is away, or does not even end a statement at its limit.
 */
function isOfRows(error: unknown): boolean {
  return postgresFailure(error) !== undefined && (!isTransient(error) || mayBeOfOneEvent(error));
}
