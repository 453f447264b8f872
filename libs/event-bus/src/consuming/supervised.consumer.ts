import { log, metrics, SteadyLoop } from '@customer-platform/http';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { Counter } from 'prom-client';
import { ConsumptionEnded, LeftForLater, TopicsMissing } from '../errors.js';
import type { KafkaClient } from '../kafka/kafka.client.js';
import type { Topics } from '../kafka/topics.js';
import { pause, within } from '../within.js';
import { AssignedPositions } from './assigned.positions.js';
import { OffsetCommits } from './offset.commits.js';
import type { Positions } from './positions.js';

/** A stretch of one partition, with what its processing may use. */
export interface Chunk {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** Waits, keeping the membership alive; throws when the partition is lost or the process stops. */
  pause(ms: number): Promise<void>;
  /** Tells the group that this member lives; throws when the partition is lost. */
  heartbeat(): Promise<void>;
}

/** What is consumed, by whom, and what is done with it. */
export interface Consumption {
  readonly group: string;
  readonly topics: readonly string[];
  /** Partitions worked on at once. */
  readonly concurrency: number;
  /** Messages given to `process` at once, at most. */
  readonly chunkSize: number;
  /** Where the consumer's database stands, from which it then reads; without them it reads from Kafka's own offsets. */
  readonly positions?: Positions;
  /** The offset moves on when it resolves. A throw is tried again, for ever; `ConsumptionEnded` leaves the rest. */
  process(chunk: Chunk): Promise<void>;
}

const undecodable = new Counter({
  name: 'event_consumer_undecodable_total',
  help: 'Times that a consumer met a batch in a compression that it does not know, and stands still before it',
  labelNames: ['group'],
  registers: [metrics],
});

const RESTART_PAUSE_MS = [250, 500, 1_000];
/** An outage is told when it begins and then about every half minute. */
const SAY_EVERY = 30;
/** Without a fetch, a heartbeat or a chunk for this long, the consumer is taken for dead and replaced. */
const SILENCE_MS = 30_000;
const DISCONNECT_MS = 3_000;
/** A stopping process has 10 s in all: so long for a join that is going on, and so long to leave. */
const BEGIN_MS = 2_000;
const STOP_MS = 6_000;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** A partition that brings so many messages at once is busy … */
const BUSY_MESSAGES = 20;
/** … and is read so often at most once all of it is processed: what comes meanwhile shares a fetch and a transaction. */
const BUSY_EVERY_MS = 300;

/**
 * A consumer that goes on for as long as the process: whatever ends kafkajs's consumer (a broker that is away, an
 * error kafkajs calls non-retriable, silence) is answered by a new one after a growing pause.
 */
export class SupervisedConsumer {
  private stopping = false;
  private stopped: Promise<void> | undefined;
  private running: Promise<void> | undefined;
  private end: ((reason: Error | undefined) => void) | undefined;
  private signOfLife = Date.now();
  private downSince: number | undefined = Date.now();
  private readonly assigned: AssignedPositions | undefined;
  /** Where the database keeps the positions; without them Kafka's offsets are the positions, and told of at once. */
  private readonly commits: OffsetCommits | undefined;
  private readonly loop: SteadyLoop;
  /** Partitions of which a chunk was left: the next holds all that is there, for what stands behind it goes on before it. */
  private readonly widened = new Set<string>();

  constructor(
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    readonly consumption: Consumption,
  ) {
    const { group, topics: read, positions } = consumption;
    this.loop = new SteadyLoop({ name: group, takes: `records of ${read.join(', ')}` });
    if (!positions) return;
    this.assigned = new AssignedPositions(client, topics, group, positions);
    this.commits = new OffsetCommits(group);
  }

  /** Since when it has been no member of its group, in milliseconds; undefined while it is one. */
  get awaySince(): number | undefined {
    return this.downSince;
  }

  /** Begins, and returns at once: whether the broker is there is found out in the background. */
  start(): void {
    this.running ??= this.supervise();
  }

  /** Finishes the chunks in hand, commits their offsets, leaves the group: resolves when it is no member any more. */
  stop(): Promise<void> {
    return (this.stopped ??= this.leaveForGood());
  }

  private async leaveForGood(): Promise<void> {
    this.stopping = true;
    this.end?.(undefined);
    await this.running;
    await this.consumption.positions?.flush?.().catch((error: unknown) => {
      log.warn({ err: error, group: this.consumption.group }, 'The last positions could not be written');
    });
  }

  /** Ends the consumer if it has shown no sign of life for 30 s; the supervisor makes a new one. */
  watch(now: number): void {
    if (now - this.signOfLife > SILENCE_MS) this.end?.(new Error('The consumer has fallen silent'));
  }

  private async supervise(): Promise<void> {
    let failures = 0;
    const turn = async (): Promise<void> => {
      const began = Date.now();
      try {
        const there = await this.topicsThere();
        if (!this.stopping) await this.runOnce(there);
      } catch (error) {
        if (isUndecodable(error)) undecodable.inc({ group: this.consumption.group });
        if (failures % SAY_EVERY === 0) {
          log.warn(
            { err: error, group: this.consumption.group, failures },
            'A consumer could not run; it is restarted',
          );
        }
      }
      this.downSince ??= Date.now();
      if (this.stopping) return;
      if (Date.now() - began > 30_000) failures = 0;
      await pause(RESTART_PAUSE_MS[Math.min(failures, RESTART_PAUSE_MS.length - 1)] ?? 0);
      failures += 1;
    };
    await this.loop.run(() => this.stopping, turn);
  }

  /** Those of its topics that are there. @throws TopicsMissing where none is: whose they are has not made them yet */
  private async topicsThere(): Promise<readonly string[]> {
    const { topics } = this.consumption;
    try {
      await this.topics.ensure(topics);
      return topics;
    } catch (error) {
      if (!(error instanceof TopicsMissing) || error.topics.length === topics.length) throw error;
      log.warn(
        { group: this.consumption.group, topics: error.topics },
        'Topics are not there yet, or may not be seen',
      );
      return topics.filter((topic) => !error.topics.includes(topic));
    }
  }

  /** Begins anew once a topic has come that was not there: a member is told of its topics when it joins. */
  private async lookForMore(there: readonly string[]): Promise<void> {
    const missing = this.consumption.topics.filter((topic) => !there.includes(topic));
    if (missing.length === 0) return;
    const { end } = this;
    try {
      await this.topics.ensure(missing);
    } catch (error) {
      if (!(error instanceof TopicsMissing) || error.topics.length === missing.length) return;
    }
    end?.(undefined);
  }

  /** One kafkajs consumer of these topics from its connection to its end. */
  private async runOnce(topics: readonly string[]): Promise<void> {
    const consumer = this.client.consumer(this.consumption.group);
    // eslint-disable-next-line house/registered-work -- watches over the one consumer, which is known
    const watch = setInterval(() => {
      this.watch(Date.now());
      void this.lookForMore(topics);
    }, 1_000);
    const ended = new Promise<Error | undefined>((resolve) => {
      this.end = resolve;
    });
    this.observe(consumer);
    let over = false;
    const begun = this.begin(consumer, topics, () => !over && !this.stopping);
    begun.catch((error: unknown) => this.end?.(asError(error)));
    try {
      const reason = await ended;
      if (reason !== undefined) throw reason;
    } finally {
      over = true;
      this.assigned?.left();
      if (this.stopping) await this.commits?.commit();
      else this.commits?.left();
      clearInterval(watch);
      this.end = undefined;
      await this.leave(consumer, begun);
    }
  }

  /**
   * Waits for what has begun, a connection or a join: kafkajs goes on with it whatever is disconnected meanwhile, and
   * nobody would know of what it opens. One that takes too long is left as soon as it is over.
   */
  private async leave(consumer: Consumer, begun: Promise<void>): Promise<void> {
    const disconnect = (): Promise<void> =>
      within(this.stopping ? STOP_MS : DISCONNECT_MS, consumer.disconnect()).catch((error: unknown) => {
        log.debug({ err: error, group: this.consumption.group }, 'A consumer did not disconnect cleanly');
      });
    const over = Promise.allSettled([begun]);
    const late = await within(BEGIN_MS, over).then(
      () => false,
      () => true,
    );
    if (late) void over.then(disconnect);
    await disconnect();
  }

  /** Stops between two steps when it is not wanted any more: what has been disconnected would connect again. */
  private async begin(consumer: Consumer, topics: readonly string[], wanted: () => boolean): Promise<void> {
    this.signOfLife = Date.now();
    await consumer.connect();
    if (!wanted()) return;
    await consumer.subscribe({
      topics: topics.map((topic) => this.client.named(topic)),
      fromBeginning: true,
    });
    if (!wanted()) return;
    // eslint-disable-next-line house/registered-work -- the one place where consumers begin
    await consumer.run({
      autoCommit: this.commits === undefined,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: this.consumption.concurrency,
      eachBatch: (payload) => this.eachBatch(consumer, payload),
    });
  }

  private observe(consumer: Consumer): void {
    const alive = (): void => {
      this.signOfLife = Date.now();
    };
    consumer.on(consumer.events.FETCH, alive);
    consumer.on(consumer.events.HEARTBEAT, alive);
    consumer.on(consumer.events.END_BATCH_PROCESS, alive);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      alive();
      this.assigned?.joined(consumer, payload.memberAssignment);
      this.downSince = undefined;
      log.info({ group: this.consumption.group }, 'Consuming');
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      this.end?.(asError(payload.error));
    });
  }

  private async eachBatch(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { topic, partition } = batch;
    const first = batch.firstOffset();
    if (first !== null && this.assigned?.follows(consumer, topic, partition, first) === false) return;
    const began = Date.now();
    const place = `${topic} ${String(partition)}`;
    const size = this.widened.has(place) ? Infinity : this.consumption.chunkSize;
    const live = (): boolean => !this.stopping && payload.isRunning() && !payload.isStale();
    const beat = async (): Promise<void> => {
      try {
        await payload.heartbeat();
      } catch (error) {
        throw new MembershipLost(error);
      }
      this.signOfLife = Date.now();
    };
    try {
      for (const messages of chunksOf(batch.messages, size)) {
        if (!live()) return;
        await this.processWhileBeating({
          topic: this.client.unnamed(batch.topic),
          partition: batch.partition,
          messages,
          heartbeat: beat,
          pause: (ms) => waitAlive(ms, live, beat),
        });
        const last = messages.at(-1);
        if (last) payload.resolveOffset(last.offset);
        this.assigned?.processed(topic, partition, messages);
        this.widened.delete(place);
        this.commits?.resolved(payload);
        if (this.stopping) await this.commits?.commit();
        await beat();
      }
      if (batch.messages.length >= BUSY_MESSAGES && batch.offsetLag() === '0') {
        await waitAlive(began + BUSY_EVERY_MS - Date.now(), live, beat);
      }
    } catch (error) {
      if (error instanceof LeftForLater) this.widened.add(place);
      if (error instanceof ConsumptionEnded) return;
      // kafkajs must see its own error: it joins the group again.
      throw error instanceof MembershipLost ? error.cause : error;
    }
  }

  /** Processes a chunk for as long as it takes, heartbeats going on beside it. */
  private async processWhileBeating(chunk: Chunk): Promise<void> {
    // eslint-disable-next-line house/registered-work -- a sign of life beside the work
    const beside = setInterval(() => {
      // A lost membership shows at the next heartbeat that is waited for; this one only keeps it.
      chunk.heartbeat().catch((error: unknown) => {
        log.debug({ err: error }, 'A heartbeat beside the processing failed');
      });
    }, 1_500);
    try {
      // eslint-disable-next-line house/no-endless-turns -- an outage lasts as long as it lasts; `chunk.pause` throws once the consumer ends
      for (let tried = 0; ; tried += 1) {
        try {
          await this.consumption.process(chunk);
          return;
        } catch (error) {
          if (error instanceof ConsumptionEnded || error instanceof MembershipLost) throw error;
          log.error({ err: error, group: this.consumption.group, tried }, 'A chunk failed; trying it again');
        }
        await chunk.pause(pauseBefore(tried));
      }
    } finally {
      clearInterval(beside);
    }
  }
}

/** Returns, in milliseconds, how long what was tried so often before waits until it is tried again. */
export function pauseBefore(tried: number): number {
  return Math.min(100 * 2 ** tried, 2_000);
}

/** The group has moved on, or its coordinator is away. */
class MembershipLost extends Error {
  constructor(cause: unknown) {
    super('The membership of the consumer group is lost', { cause });
    this.name = 'MembershipLost';
  }
}

/** kafkajs's word for a batch in snappy, lz4 or zstd. Passing over it could lose what is in it: the operator decides. */
function isUndecodable(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSNotImplemented';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

async function waitAlive(ms: number, live: () => boolean, beat: () => Promise<void>): Promise<void> {
  const until = Date.now() + ms;
  for (let left = ms; left > 0; left = until - Date.now()) {
    if (!live()) throw new ConsumptionEnded();
    await pause(Math.min(left, 500));
    await beat();
  }
  if (!live()) throw new ConsumptionEnded();
}

function* chunksOf(messages: readonly KafkaMessage[], size: number): Generator<KafkaMessage[]> {
  let chunk: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    bytes += message.value?.length ?? 0;
    chunk.push(message);
    if (chunk.length >= size || bytes >= CHUNK_BYTES) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
  }
  if (chunk.length > 0) yield chunk;
}
