import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { isEventType, topicOf, type DomainEvent, type EventType } from '@customer-platform/events';
import { Batcher } from '@customer-platform/http';
import { isObservable, lastValueFrom } from 'rxjs';
import { Consumers } from '../consuming/consumers.js';
import { KeptPositions } from '../consuming/kept.positions.js';
import type { Chunk, SupervisedConsumer } from '../consuming/supervised.consumer.js';
import { ChunkDelivery, type Receiver } from '../delivery/chunk.delivery.js';
import { EventDelivery } from '../delivery/event-delivery.js';
import { Stalls } from '../delivery/stalls.js';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import type { OnEventExtras } from '../on-event.decorator.js';
import { ParkedEvents } from '../parking/parked-events.js';
import { watchParked } from '../parking/parked.gauge.js';
import { LeftForLater } from '../errors.js';
import { EventReader, partOf } from './event.reader.js';
import type { ReceivedEvent } from './received-event.js';

interface Subscription {
  handle: MessageHandler;
  failed: boolean;
}

/** Everything one class subscribes to: order per key holds within it. */
interface Subscriber {
  readonly types: Map<EventType, Subscription>;
  readonly stalls: Stalls<ReceivedEvent>;
}

/** A chunk among those that are delivered together. */
interface WaitingChunk {
  readonly chunk: Chunk;
  /** Whether some of its events are left, and it is to be read again. */
  left: boolean;
}

/** An event was to be delivered again to a subscriber that there is no more. */
class NobodySubscribes extends Error {
  constructor(consumer: string, type: string) {
    super(`${consumer} takes no ${type}`);
    this.name = 'NobodySubscribes';
  }
}

const CHUNK_SIZE = 500;
/** How long what one partition brings waits for what the others of the same answer bring: a moment, for it is there. */
const LINGER_MS = 5;

/**
 * The `@nestjs/microservices` transport of the domain events: handlers are controllers' methods under `@OnEvent`, fed
 * from kafkajs's `eachBatch` in runs. What several partitions bring at a time is delivered together: a transaction costs
 * its effects the more, the fewer events share it. Connect it with `connectEventBus(app)`.
 */
@Injectable()
export class KafkaTransport extends Server implements CustomTransportStrategy, OnModuleDestroy {
  override readonly propagatesEventHandlerErrors = true;
  private readonly subscribers = new Map<object, Subscriber>();
  private types: ReadonlySet<EventType> = new Set();
  private consumer: SupervisedConsumer | undefined;
  private unwatch: (() => void) | undefined;
  private readonly batcher: Batcher<WaitingChunk>;

  constructor(
    @Inject(EVENT_BUS_OPTIONS) private readonly options: EventBusOptions,
    private readonly client: KafkaClient,
    private readonly topics: Topics,
    private readonly consumers: Consumers,
    private readonly reader: EventReader,
    private readonly parked: ParkedEvents,
    private readonly kept: KeptPositions,
  ) {
    super();
    this.batcher = new Batcher<WaitingChunk>({
      waitMs: LINGER_MS,
      enough: CHUNK_SIZE,
      parallel: options.concurrency ?? 3,
      run: (batch) => this.process(batch),
    });
  }

  override addHandler(
    pattern: unknown,
    handle: MessageHandler,
    isEventHandler = false,
    extras: Record<string, unknown> = {},
  ): void {
    const type = String(pattern);
    if (!isEventHandler || !isEventType(type)) throw new TypeError(`${type} is no domain event`);
    const { subscriber, failed } = extras as unknown as OnEventExtras;
    const known = this.subscribers.get(subscriber);
    const { types, stalls } = known ?? { types: new Map(), stalls: new Stalls(({ event }) => event.id) };
    if (types.has(type)) throw new TypeError(`${type} is handled twice by one class`);
    types.set(type, { handle, failed });
    this.subscribers.set(subscriber, { types, stalls });
  }

  /** Starts consuming in the background and returns at once; readiness tells when it is in its group. */
  listen(callback: () => void): void {
    this.types = new Set([...this.subscribers.values()].flatMap(({ types }) => [...types.keys()]));
    const topics = [...new Set([...this.types].map((type) => topicOf(type)))];
    if (topics.length > 0) {
      this.consumer = this.consumers.start(this.client, this.topics, {
        group: this.group,
        topics,
        // A partition waits while its events are batched; the others must not wait for it.
        concurrency: topics.length * this.client.partitions,
        chunkSize: CHUNK_SIZE,
        positions: this.kept,
        process: (chunk) => this.addToBatch(chunk),
      });
    }
    this.unwatch = watchParked(this.parked);
    callback();
  }

  async close(): Promise<void> {
    this.unwatch?.();
    await this.consumer?.stop();
  }

  /** Before Nest closes its transports: the relay shall still publish what the last handlers leave in the outbox. */
  async onModuleDestroy(): Promise<void> {
    await this.close();
  }

  on(): never {
    throw new TypeError('This transport has no events of its own');
  }

  unwrap<T>(): T {
    return this.client as T;
  }

  /**
   * Hands one event to the subscriber of that name, outside of any consumption; the group's name alone stands for all
   * of its subscribers. Needs the handlers, so `app.connectMicroservice`, and no broker.
   * @throws NobodySubscribes, and what the handler throws
   */
  async redeliver(consumer: string, event: DomainEvent): Promise<void> {
    const subscriptions = [...this.subscribers].flatMap(([subscriber, { types }]) =>
      consumer === this.group || consumer === this.nameOf(subscriber) ? (types.get(event.type) ?? []) : [],
    );
    if (subscriptions.length === 0) throw new NobodySubscribes(consumer, event.type);
    for (const { handle } of subscriptions) await call(handle, new EventDelivery([event]));
  }

  /** Whether a name is that of the group, which has what no subscriber was given. */
  isGroup(consumer: string): boolean {
    return consumer === this.group;
  }

  /** What a subscriber is known by where its events are parked. */
  private nameOf(subscriber: object): string {
    return `${this.group}/${(subscriber as { name?: string }).name ?? ''}`;
  }

  private get group(): string {
    return this.options.group ?? `${this.options.module}.domain-events`;
  }

  /** @throws LeftForLater when an event of it stalls: what comes meanwhile, of all partitions, goes on before it */
  private async addToBatch(chunk: Chunk): Promise<void> {
    const waiting: WaitingChunk = { chunk, left: false };
    await this.batcher.add(waiting, chunk.messages.length);
    if (waiting.left) throw new LeftForLater();
  }

  /** Chunks of several partitions: the order of a key, whose events are all in one of them, is that of its chunk. */
  private async process(batch: readonly WaitingChunk[]): Promise<void> {
    const chunks = batch.map(({ chunk }) => chunk);
    const events: ReceivedEvent[] = [];
    for (const chunk of chunks) events.push(...(await this.reader.read(chunk, this.group, this.types)));
    const left = new Set<string>();
    for (const [name, subscriber] of this.subscribers) {
      const wanted = events.filter(({ type }) => subscriber.types.has(type));
      if (wanted.length === 0) continue;
      const rest = await this.deliver(this.nameOf(name), subscriber, wanted, chunks);
      for (const { part } of rest) left.add(part);
    }
    if (left.size > 0) this.noteRepeated(events.filter(({ part }) => left.has(part)));
    for (const each of batch) each.left = left.has(partOf(each.chunk));
  }

  /** What one subscriber leaves comes again for all of them, and proves nothing to those that had it already. */
  private noteRepeated(events: readonly ReceivedEvent[]): void {
    for (const { types, stalls } of this.subscribers.values())
      stalls.repeat(events.filter(({ type }) => types.has(type)));
  }

  /** @returns what waits for an event that stalls */
  private async deliver(
    name: string,
    { types, stalls }: Subscriber,
    events: readonly ReceivedEvent[],
    chunks: readonly Chunk[],
  ): Promise<readonly ReceivedEvent[]> {
    const receiver: Receiver<ReceivedEvent> = {
      handle: async (type, run) => {
        const subscription = types.get(type as EventType);
        if (subscription) await call(subscription.handle, new EventDelivery(run.map(({ event }) => event)));
      },
      giveUp: async (received, failure) => {
        const subscription = types.get(received.type);
        if (!subscription?.failed) await this.parked.park(name, received, failure);
        else await call(subscription.handle, new EventDelivery([received.event], failure));
      },
      pause: (ms) => pauseAll(chunks, ms),
    };
    return new ChunkDelivery(receiver, stalls).deliver(events);
  }
}

/** Waits for as long as any of these partitions is still this member's; throws when none is. */
async function pauseAll(chunks: readonly Chunk[], ms: number): Promise<void> {
  const waits = await Promise.allSettled(chunks.map((chunk) => chunk.pause(ms)));
  const [over] = waits.filter((wait) => wait.status === 'rejected');
  if (over && waits.every(({ status }) => status === 'rejected')) throw over.reason;
}

/** Calls a handler as Nest wrapped it; the error it ends in is the method's own. */
async function call(handle: MessageHandler, delivery: EventDelivery): Promise<void> {
  const result: unknown = await handle(delivery);
  if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
}
