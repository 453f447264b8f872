import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { kafkaConfig, readConfig, serviceConfig } from '@customer-platform/config';
import { Database } from '@customer-platform/database';
import { RecordConsumers, type IncomingRecord } from '@customer-platform/event-bus';
import { RECORD_TOPICS } from '@customer-platform/events';
import { Batcher } from '@customer-platform/http';
import { decodeAcceptances, UnreadableRecord } from '../ingestion/event-frame.js';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';
import { QueuePositions } from '../processing/queue-positions.js';

/** The reader whose position says what has been counted. */
const COUNTER = 'counter';

/** Chunks of all partitions are batched for so long and counted in one transaction; usage can ask for it sooner. */
const LINGER_MS = 250;

const ADD = `
  INSERT INTO usage_acceptances AS day (organization_id, day, partition, counted)
  SELECT organization_id, day, partition, counted
    FROM unnest($1::uuid[], $2::date[], $3::int[], $4::bigint[])
      AS added (organization_id, day, partition, counted)
   ORDER BY organization_id, day, partition
  ON CONFLICT (organization_id, day, partition) DO UPDATE SET counted = day.counted + excluded.counted`;

/**
 * Counts the events of the queue, by organization, day of acceptance and partition, whether or not a worker lives: the
 * count is a prefix of each partition, as is the worker's own, and the longer of the two is what has been accepted.
 * Runs where usage is asked for: PROCESS_ROLE is not worker.
 */
@Injectable()
export class AcceptanceCounter implements OnApplicationBootstrap {
  private readonly batcher = new Batcher<readonly IncomingRecord[]>({
    waitMs: LINGER_MS,
    enough: Infinity,
    parallel: 1,
    run: (chunks) => this.add(chunks.flat()),
  });

  constructor(
    private readonly consumers: RecordConsumers,
    private readonly database: Database,
    private readonly positions: QueuePositions,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'worker') return;
    this.consumers.consume({
      topic: INGESTION_TOPIC,
      group: RECORD_TOPICS[INGESTION_TOPIC].groups.acceptances,
      positions: this.positions.of(COUNTER),
      chunkSize: 2_000,
      // A partition waits while its chunk is batched; the others must not wait for it.
      concurrency: readConfig(kafkaConfig).KAFKA_PARTITIONS,
      eachChunk: (records) => this.batcher.add(records, records.length),
      takesUnproven: true,
    });
  }

  /** Someone waits for the count: for a moment nothing is batched any longer. */
  hurry(): void {
    this.batcher.hurry(1_000);
  }

  private async add(records: readonly IncomingRecord[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      const fresh = await this.positions.advance(tx, COUNTER, INGESTION_TOPIC, records);
      const counts = countAcceptances(fresh);
      if (counts.length === 0) return;
      await tx.query(ADD, [
        counts.map(({ organizationId }) => organizationId),
        counts.map(({ day }) => day),
        counts.map(({ partition }) => partition),
        counts.map(({ counted }) => counted),
      ]);
    });
  }
}

interface Count {
  readonly organizationId: string;
  readonly day: string;
  readonly partition: number;
  counted: number;
}

function countAcceptances(records: readonly IncomingRecord[]): Count[] {
  const counts = new Map<string, Count>();
  for (const { partition, value, unproven } of records) {
    // What nobody accepted counts for nobody; the worker keeps it.
    if (unproven) continue;
    for (const { organizationId, receivedAt } of acceptancesOf(value)) {
      const day = new Date(receivedAt).toISOString().slice(0, 10);
      const key = `${organizationId} ${day} ${partition}`;
      const count = counts.get(key) ?? { organizationId, day, partition, counted: 0 };
      counts.set(key, count);
      count.counted += 1;
    }
  }
  return [...counts.values()];
}

function acceptancesOf(record: Buffer): ReturnType<typeof decodeAcceptances> {
  try {
    return decodeAcceptances(record);
  } catch (error) {
    // The worker keeps it; nobody was promised anything about it.
    if (error instanceof UnreadableRecord) return [];
    throw error;
  }
}
