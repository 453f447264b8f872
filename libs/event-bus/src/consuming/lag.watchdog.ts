import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { log, metrics, PollingJob, registerDependency } from '@customer-platform/http';
import type { Admin } from 'kafkajs';
import { Gauge } from 'prom-client';
import { KafkaClient } from '../kafka/kafka.client.js';
import { Topics } from '../kafka/topics.js';
import { Consumers } from './consumers.js';
import { rangesOfTopic } from './partition.ranges.js';
import type { PartitionRange, Position, Positions } from './positions.js';
import type { Consumption } from './supervised.consumer.js';

const LOOK_EVERY_MS = 10_000;
/** Records wait and the offset has not moved for this long: said in the log, once. */
const STUCK_MS = 60_000;

interface Place {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
}

interface Progress {
  /** The offset of the record that comes next; undefined where it was never known. */
  next: bigint | undefined;
  /** Since when it stands there, in milliseconds. */
  since: number;
  said: boolean;
}

const watchdogs = new Set<LagWatchdog>();

const lagGauge = new Gauge({
  name: 'event_consumer_lag',
  help: 'Records of a partition that have not had their effect yet: behind the kept position, else behind Kafka’s offset of the group',
  labelNames: ['group', 'topic', 'partition'],
  registers: [metrics],
});
const stuckGauge = new Gauge({
  name: 'event_consumer_stuck_seconds',
  help: 'How long a partition has not moved while records wait or nobody leads it; 0 while none do',
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
  private readonly job = new PollingJob({
    name: 'consumer-lag',
    takes: null,
    everyMs: LOOK_EVERY_MS,
    pass: () => this.look(Date.now()),
  });
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
    this.job.start(LOOK_EVERY_MS);
  }

  onModuleDestroy(): void {
    // Nothing hangs on a look that is going on, and Kafka may take long to answer it.
    void this.job.stop();
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

  /** Measures all consumers now. That Kafka is silent is taken from what any broker can answer, and from nothing else. */
  async look(now: number): Promise<void> {
    try {
      await this.topics.withAdmin(async (admin) => {
        await admin.describeCluster();
        this.silent = false;
        for (const { consumption } of this.consumers.all) {
          for (const topic of consumption.topics) await this.measure(admin, consumption, topic, now);
        }
      });
    } catch (error) {
      this.silent = true;
      log.debug({ err: error }, 'Kafka did not answer');
    }
  }

  /** What cannot be measured hinders no other measure. */
  private async measure(
    admin: Admin,
    { group, positions }: Consumption,
    topic: string,
    now: number,
  ): Promise<void> {
    try {
      const { answered, unanswered } = await rangesOfTopic(admin, this.client, group, topic);
      for (const partition of unanswered) this.stands({ group, topic, partition }, now);
      const kept = await lookInto(positions, group, answered);
      answered.forEach(({ partition, low, high, committed }, at) => {
        // Kafka's own offset is of another age once the database was restored.
        const next = (positions ? kept[at]?.next : committed) ?? low;
        // A position beyond the end is one in a topic that was made again since.
        this.note({ group, topic, partition }, next, next > high ? high - low : high - next, now);
      });
    } catch (error) {
      log.debug({ err: error, group, topic }, 'The lag could not be measured');
    }
  }

  private note(place: Place, next: bigint, lag: bigint, now: number): void {
    const before = this.progress.get(keyOf(place));
    const moved = before?.next !== next || lag <= 0n;
    lagGauge.set(place, Number(lag));
    this.tell(place, moved ? { next, since: now, said: false } : before, now);
  }

  /** Nothing is known of a partition without a leader, but that it cannot move. */
  private stands(place: Place, now: number): void {
    const before = this.progress.get(keyOf(place));
    this.tell(place, before ?? { next: undefined, since: now, said: false }, now);
  }

  private tell(place: Place, progress: Progress, now: number): void {
    this.progress.set(keyOf(place), progress);
    const stuckMs = Math.max(0, now - progress.since);
    stuckGauge.set(place, stuckMs / 1_000);
    if (stuckMs <= STUCK_MS || progress.said) return;
    progress.said = true;
    log.warn(place, 'A partition stands still while records wait, or nobody leads it');
  }
}

async function lookInto(
  positions: Positions | undefined,
  group: string,
  ranges: readonly PartitionRange[],
): Promise<(Position | undefined)[]> {
  if (!positions || ranges.length === 0) return [];
  return (await positions.look?.(group, ranges)) ?? positions.read(group, ranges);
}

function keyOf({ group, topic, partition }: Place): string {
  return `${group} ${topic} ${String(partition)}`;
}
