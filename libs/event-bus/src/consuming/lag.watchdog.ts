import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { log, metrics, registerReadiness } from '@customer-platform/http';
import { Gauge } from 'prom-client';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { Consumers } from './consumers.js';
import type { SupervisedConsumer } from './supervised.consumer.js';

const LOOK_EVERY_MS = 10_000;
/** No member of the group for this long: not ready. */
const AWAY_MS = 15_000;
/** Records wait and the offset has not moved for this long: not ready. */
const STUCK_MS = 60_000;

interface Progress {
  committed: bigint;
  lag: bigint;
  movedAt: number;
}

const lagGauge = new Gauge({
  name: 'event_consumer_lag',
  help: 'Records of a topic that its consumer group has not committed yet',
  labelNames: ['group', 'topic'],
  registers: [metrics],
});

/**
 * Watches that every consumer of the process moves. One that is out of its group, or stands still while records wait,
 * makes the process not ready and says why.
 */
@Injectable()
export class LagWatchdog implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly progress = new Map<SupervisedConsumer, Progress>();
  private timer: NodeJS.Timeout | undefined;
  private unregister: (() => void) | undefined;

  constructor(
    private readonly consumers: Consumers,
    private readonly client: KafkaClient,
    private readonly topics: Topics,
  ) {}

  onApplicationBootstrap(): void {
    this.unregister = registerReadiness({
      name: 'event consumers',
      check: () => {
        this.check(Date.now());
      },
    });
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.unregister?.();
  }

  /** Throws, naming the group, when a consumer does not consume. */
  check(now: number): void {
    for (const consumer of this.consumers.all) {
      const { group } = consumer.consumption;
      if (consumer.awaySince !== undefined && now - consumer.awaySince > AWAY_MS) {
        throw new Error(`the consumer ${group} is not in its group`);
      }
      const progress = this.progress.get(consumer);
      if (progress && progress.lag > 0n && now - progress.movedAt > STUCK_MS) {
        throw new Error(`the consumer ${group} stands still with ${String(progress.lag)} records waiting`);
      }
    }
  }

  private async look(): Promise<void> {
    for (const consumer of this.consumers.all) {
      try {
        await this.measure(consumer);
      } catch (error) {
        log.debug({ err: error, group: consumer.consumption.group }, 'The lag could not be measured');
      }
    }
  }

  private async measure(consumer: SupervisedConsumer): Promise<void> {
    const { group, topics } = consumer.consumption;
    let committed = 0n;
    let lag = 0n;
    await this.topics.withAdmin(async (admin) => {
      const names = topics.map((topic) => this.client.named(topic));
      const positions = await admin.fetchOffsets({ groupId: this.client.named(group), topics: names });
      for (const { topic, partitions } of positions) {
        const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]));
        let waiting = 0n;
        for (const { partition, offset } of partitions) {
          const end = ends.get(partition);
          if (!end) continue;
          const at = offset === '-1' ? BigInt(end.low) : BigInt(offset);
          committed += at;
          waiting += BigInt(end.high) - at;
        }
        lagGauge.set({ group, topic }, Number(waiting));
        lag += waiting;
      }
    });
    const before = this.progress.get(consumer);
    const moved = !before || before.committed !== committed || lag === 0n;
    this.progress.set(consumer, { committed, lag, movedAt: moved ? Date.now() : before.movedAt });
  }
}
