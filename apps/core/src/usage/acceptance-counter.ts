import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { kafkaConfig, readConfig, serviceConfig } from '@customer-platform/config';
import {
  Clock,
  Database,
  isTransient,
  ranOut,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { RecordConsumers, type IncomingRecord } from '@customer-platform/event-bus';
import { RECORD_TOPICS } from '@customer-platform/events';
import { Batcher, ItemBackoff } from '@customer-platform/http';
import { decodeAcceptances, UnreadableRecord } from '../vocabulary/events/event-frame.js';
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

/** What could not be added of so many organizations is remembered, at most. */
const MOST_OWED = 10_000;

/**
 * Counts the events of the queue, by organization, day of acceptance and partition, whether or not a worker lives: the
 * count is a prefix of each partition, as is the worker's own, and the longer of the two is what has been accepted.
 * What fails for one organization is left out and added later; until then, and where the process ends before, that one's
 * accepted events are those that the worker has taken. Runs where usage is asked for: PROCESS_ROLE is not worker.
 */
@Injectable()
export class AcceptanceCounter implements OnApplicationBootstrap {
  private readonly batcher = new Batcher<readonly IncomingRecord[]>({
    waitMs: LINGER_MS,
    enough: Infinity,
    parallel: 1,
    run: (chunks) => this.add(chunks.flat()),
  });
  private readonly group = RECORD_TOPICS[INGESTION_TOPIC].groups.acceptances;
  private readonly backoff: ItemBackoff;
  /** By organization, what could not be added yet. */
  private owed = new Map<string, Count[]>();

  constructor(
    private readonly consumers: RecordConsumers,
    private readonly database: Database,
    private readonly positions: QueuePositions,
    clock: Clock,
  ) {
    this.backoff = new ItemBackoff(this.group, clock);
  }

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'worker') return;
    this.consumers.consume({
      topic: INGESTION_TOPIC,
      group: this.group,
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
    let waiting: [string, Count[]][] = [];
    let tried = new Map<string, Count[]>();
    let failed = new Map<string, unknown>();
    let ended = false;
    const unit = async (tx: WorkerTransaction): Promise<void> => {
      ended = false;
      const fresh = await this.positions.advance(tx, COUNTER, INGESTION_TOPIC, records);
      const counts = countAcceptances(fresh, [...this.owed.values()].flat());
      const all = [...Map.groupBy(counts, ({ organizationId }) => organizationId)];
      waiting = all.filter(([organizationId]) => this.backoff.waits(organizationId));
      tried = new Map(all.filter((each) => !waiting.includes(each)));
      failed = await addApart(tx, [...tried.values()]);
      ended = true;
    };
    try {
      await this.database.acrossOrganizations(unit);
    } catch (error) {
      // It may be committed: what was added must not be added again. Where it is not, the worker's own count makes good.
      if (ended) for (const id of tried.keys()) if (!failed.has(id)) this.owed.delete(id);
      throw error;
    }
    const owed = [...waiting, ...[...tried].filter(([organizationId]) => failed.has(organizationId))];
    this.owed = new Map(owed.slice(0, MOST_OWED));
    for (const organizationId of tried.keys()) {
      if (failed.has(organizationId)) this.backoff.failed(organizationId, failed.get(organizationId));
      else this.backoff.passed(organizationId);
    }
  }
}

/**
 * Adds the counts of each organization; where that fails, by halves, until those that fail stand alone.
 * @returns organizations of which nothing was added, with why
 */
async function addApart(
  tx: WorkerTransaction,
  organizations: readonly Count[][],
): Promise<Map<string, unknown>> {
  const counts = organizations.flat();
  const [first] = counts;
  if (!first) return new Map();
  await tx.query('SAVEPOINT adding');
  try {
    await addAll(tx, counts);
    await tx.query('RELEASE SAVEPOINT adding');
    return new Map();
  } catch (error) {
    if (isTransient(error) && !ranOut(error)) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT adding');
    await tx.query('RELEASE SAVEPOINT adding');
    if (organizations.length === 1) return new Map([[first.organizationId, error]]);
  }
  const middle = organizations.length >> 1;
  const before = await addApart(tx, organizations.slice(0, middle));
  return new Map([...before, ...(await addApart(tx, organizations.slice(middle)))]);
}

async function addAll(tx: Transaction, counts: readonly Count[]): Promise<void> {
  await tx.query(ADD, [
    counts.map(({ organizationId }) => organizationId),
    counts.map(({ day }) => day),
    counts.map(({ partition }) => partition),
    counts.map(({ counted }) => counted),
  ]);
}

interface Count {
  readonly organizationId: string;
  readonly day: string;
  readonly partition: number;
  counted: number;
}

/** @param owed what comes on top of them */
function countAcceptances(records: readonly IncomingRecord[], owed: readonly Count[]): Count[] {
  const counts = new Map(owed.map((count) => [keyOf(count), { ...count }]));
  for (const { partition, value, unproven } of records) {
    // What nobody accepted counts for nobody; the worker keeps it.
    if (unproven) continue;
    for (const { organizationId, receivedAt } of acceptancesOf(value)) {
      const day = new Date(receivedAt).toISOString().slice(0, 10);
      const none = { organizationId, day, partition, counted: 0 };
      const count = counts.get(keyOf(none)) ?? none;
      counts.set(keyOf(none), count);
      count.counted += 1;
    }
  }
  return [...counts.values()];
}

function keyOf({ organizationId, day, partition }: Count): string {
  return `${organizationId} ${day} ${partition}`;
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
