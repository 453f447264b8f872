import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { databaseConfig, readConfig, serviceConfig } from '@customer-platform/config';
import { Database, jsons, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { ProducerLine } from '../producing/producer.line.js';
import { RecordSending } from '../producing/record.sending.js';
import { pause, within } from '../within.js';
import { watchAge } from './outbox.age.js';
import { OutboxListener } from './outbox.listener.js';
import { OutboxPublishing, type OutboxRow, type Published } from './outbox.publishing.js';
import { OutboxSignal } from './outbox.signal.js';
import { SHARDS } from './shards.js';

/** Shards one relay takes at once; the rest is left to relays of other processes. */
const SHARDS_AT_ONCE = SHARDS / 2;
/** What one shard gives at once, at most: so many rows, and about so many bytes as they are stored. */
const ROWS_PER_SHARD = 256;
const BYTES_PER_SHARD = 256 * 1024;
/** After so many rows more may wait already. */
const ENOUGH_ROWS = ROWS_PER_SHARD;
const POLL_MS = 250;
/** How long the rows of one transaction wait for those of others, to share a look, a request and a commit. */
const GATHER_MS = 20;
/** A shutdown has 10 s in all. */
const STOP_MS = 3_000;
/** An outage is told when it begins and then about every half minute. */
const SAY_EVERY = 75;
const OUTAGE_PAUSE_MS = [100, 200, 400];
/** First of the two numbers of the advisory locks that the shards are. */
const LOCK_SPACE = 0x6f626f78;

/**
 * A queue's table is mostly rows that are gone, and was empty when it was last analyzed: the planner would rather read
 * all of it, once for each shard (measured: 5 ms instead of 0.1), and only a walk along the index clears the way for the
 * next one.
 */
const BY_INDEX =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off';

/**
 * The order makes the index give one row of each shard. With EXISTS the planner, which takes the table for an empty
 * one, reads all rows of a backlog each time.
 */
const LOCK_SHARDS = `
  WITH waiting AS MATERIALIZED (
    SELECT shard FROM generate_series(0, ${String(SHARDS - 1)}) AS shard
     WHERE (SELECT true FROM outbox WHERE outbox.shard = shard.shard ORDER BY outbox.id LIMIT 1)
     ORDER BY random())
  SELECT shard FROM waiting WHERE pg_try_advisory_xact_lock(${String(LOCK_SPACE)}, shard)
   LIMIT ${String(SHARDS_AT_ONCE)}`;

/**
 * A shard gives its first row and as many more as stay within the bound; after an outage rows are many and small, so a
 * bound by their number would make the backlog crawl. `pg_column_size` does not unpack what it measures. Rows that wait
 * for a partition that cannot be written are passed over.
 */
const TAKE = `
  SELECT head.organization_id, head.id, head.topic, head.messages
    FROM unnest($1::smallint[]) AS taken (shard)
   CROSS JOIN LATERAL (
     SELECT waiting.*, sum(waiting.size) OVER (ORDER BY waiting.id) AS total
       FROM (SELECT organization_id, id, topic, messages, pg_column_size(messages) AS size FROM outbox
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

/**
 * Publishes what transactions left in the outbox. A shard is relayed by one relay at a time (an advisory lock for the
 * length of the transaction), in the order of its rows: take, publish with `acks=-1`, delete what was written, commit.
 * A crash in between publishes again; consumers recognise repeats. Several processes share the shards.
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

  constructor(
    private readonly database: Database,
    private readonly signal: OutboxSignal,
    client: KafkaClient,
    topics: Topics,
  ) {
    this.line = new ProducerLine(() => client.producer());
    this.publishing = new OutboxPublishing(topics, new RecordSending(client, topics, this.line));
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
    for (let failures = 0; !this.stopping;) {
      try {
        await this.line.connect();
        this.raised = false;
        const relayed = await this.relayOnce();
        failures = 0;
        if (relayed === 0) await this.idle(POLL_MS);
        if (relayed < ENOUGH_ROWS && !this.stopping) await pause(GATHER_MS);
      } catch (error) {
        if (failures % SAY_EVERY === 0)
          log.warn({ err: error, failures }, 'The outbox cannot be relayed; trying again');
        await this.idle(OUTAGE_PAUSE_MS[Math.min(failures, OUTAGE_PAUSE_MS.length - 1)] ?? POLL_MS, true);
        failures += 1;
      }
    }
  }

  /** Relays the heads of the shards that wait and are free; returns how many rows were settled. */
  private async relayOnce(): Promise<number> {
    await this.publishing.release();
    return this.database.acrossOrganizations(async (tx: WorkerTransaction) => {
      await tx.query(BY_INDEX);
      const shards = await tx.query<{ shard: number }>(LOCK_SHARDS);
      if (shards.length === 0) return 0;
      const taken = shards.map(({ shard }) => shard);
      const rows = await tx.query<OutboxRow>(TAKE, [taken, this.publishing.heldIds]);
      if (rows.length === 0) return 0;
      rows.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
      const published = await this.publishing.publish(rows);
      await this.settle(tx, published);
      return published.settled;
    });
  }

  private async settle(tx: WorkerTransaction, { gone, shortened }: Published): Promise<void> {
    const keys = (rows: readonly OutboxRow[]): [string[], string[]] => [
      rows.map(({ organization_id: organizationId }) => organizationId),
      rows.map(({ id }) => id),
    ];
    if (gone.length > 0) await tx.query(FORGET, keys(gone));
    if (shortened.length === 0) return;
    const rest = jsons(shortened.map(({ messages }) => JSON.stringify(messages)));
    await tx.query(SHORTEN, [...keys(shortened), rest]);
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
