import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { log, metrics, registerDependency } from '@customer-platform/http';
import type { Admin } from 'kafkajs';
import { Gauge } from 'prom-client';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { Consumers } from './consumers.js';
import type { SupervisedConsumer } from './supervised.consumer.js';

const LOOK_EVERY_MS = 10_000;
/** Records wait and the offset has not moved for this long: said in the log, once. */
const STUCK_MS = 60_000;

interface Progress {
  committed: bigint;
  /** Since when it stands there, in milliseconds. */
  since: number;
  said: boolean;
}

const watchdogs = new Set<LagWatchdog>();

const lagGauge = new Gauge({
  name: 'event_consumer_lag',
  help: 'Records of a partition that its consumer group has not committed yet',
  labelNames: ['group', 'topic', 'partition'],
  registers: [metrics],
});
const stuckGauge = new Gauge({
  name: 'event_consumer_stuck_seconds',
  help: 'How long a partition’s offset has not moved while records wait; 0 while none do',
  labelNames: ['group', 'topic', 'partition'],
  registers: [metrics],
});
new Gauge({
  name: 'event_consumer_away_seconds',
  help: 'How long a consumer of this process has been in no group; 0 while it is in its own',
  labelNames: ['group'],
  registers: [metrics],
  collect() {
    for (const watchdog of watchdogs) {
      for (const [group, seconds] of watchdog.away(Date.now())) this.set({ group }, seconds);
    }
  },
});

/**
 * Tells whether every partition of the process's consumers moves, and whether Kafka answers. Metrics only: a group that
 * stands still stands still for all its instances, and taking them out of service moves nothing.
 */
@Injectable()
export class LagWatchdog implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly progress = new Map<string, Progress>();
  private timer: NodeJS.Timeout | undefined;
  private unregister: (() => void) | undefined;
  private silent = false;

  constructor(
    private readonly consumers: Consumers,
    private readonly client: KafkaClient,
    private readonly topics: Topics,
  ) {}

  onApplicationBootstrap(): void {
    watchdogs.add(this);
    this.unregister = registerDependency({
      name: 'kafka',
      check: () => {
        if (this.silent) throw new Error('Kafka did not answer the last look');
      },
    });
    this.timer = setInterval(() => void this.look(Date.now()), LOOK_EVERY_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    watchdogs.delete(this);
    this.unregister?.();
  }

  /** For each group how many seconds its consumer has been away from it. */
  away(now: number): [group: string, seconds: number][] {
    return this.consumers.all.map(({ consumption, awaySince }) => [
      consumption.group,
      awaySince === undefined ? 0 : Math.max(0, now - awaySince) / 1_000,
    ]);
  }

  /** Measures all consumers now. */
  async look(now: number): Promise<void> {
    try {
      await this.topics.withAdmin(async (admin) => {
        await admin.describeCluster();
        this.silent = false;
        for (const consumer of this.consumers.all) await this.measure(admin, consumer, now);
      });
    } catch (error) {
      this.silent = true;
      log.debug({ err: error }, 'The lag could not be measured');
    }
  }

  private async measure(admin: Admin, consumer: SupervisedConsumer, now: number): Promise<void> {
    const { group, topics } = consumer.consumption;
    const names = topics.map((topic) => this.client.named(topic));
    const positions = await admin.fetchOffsets({ groupId: this.client.named(group), topics: names });
    for (const { topic, partitions } of positions) {
      const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]));
      for (const { partition, offset } of partitions) {
        const end = ends.get(partition);
        if (!end) continue;
        const committed = offset === '-1' ? BigInt(end.low) : BigInt(offset);
        const place = { group, topic: this.client.unnamed(topic), partition };
        this.note(place, { committed, lag: BigInt(end.high) - committed }, now);
      }
    }
  }

  private note(
    place: { group: string; topic: string; partition: number },
    { committed, lag }: { committed: bigint; lag: bigint },
    now: number,
  ): void {
    const key = `${place.group} ${place.topic} ${String(place.partition)}`;
    const before = this.progress.get(key);
    const moved = before?.committed !== committed || lag <= 0n;
    const progress = moved ? { committed, since: now, said: false } : before;
    this.progress.set(key, progress);
    const stuckMs = now - progress.since;
    lagGauge.set(place, Number(lag));
    stuckGauge.set(place, stuckMs / 1_000);
    if (stuckMs <= STUCK_MS || progress.said) return;
    progress.said = true;
    log.warn({ ...place, lag: String(lag) }, 'A partition stands still while records wait');
  }
}
