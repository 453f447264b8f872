import { Injectable } from '@nestjs/common';
import { kafkaConfig, readConfig } from '@customer-platform/config';
import { Database, type Transaction } from '@customer-platform/database';
import type { IncomingRecord, Positions } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';

const CREATE = `
  INSERT INTO queue_positions (reader, topic, partition, next_offset, latest_timestamp)
  SELECT $1, $2, partition, 0, 0 FROM unnest($3::int[]) AS partition
  ON CONFLICT DO NOTHING`;

const LOCK = `
  SELECT partition, next_offset::text, latest_timestamp::text FROM queue_positions
   WHERE reader = $1 AND topic = $2 AND partition = ANY($3::int[]) ORDER BY partition FOR UPDATE`;

const MOVE = `
  UPDATE queue_positions AS position
     SET next_offset = moved.next_offset, latest_timestamp = moved.latest_timestamp
    FROM unnest($3::int[], $4::bigint[], $5::bigint[]) AS moved (partition, next_offset, latest_timestamp)
   WHERE position.reader = $1 AND position.topic = $2 AND position.partition = moved.partition`;

const READ_OF = `
  SELECT partition, next_offset::text, latest_timestamp::text FROM queue_positions
   WHERE reader = $1 AND topic = $2`;

const READ = `
  SELECT partition, max(next_offset)::text AS next_offset FROM queue_positions WHERE topic = $1 GROUP BY partition`;

interface Position {
  partition: number;
  next_offset: string;
  latest_timestamp: string;
}

/**
 * How far each reader of the queue has come, in the database and in the transaction of the effect. Kafka's own offsets
 * only tell how far behind it is; these say what has had its effect and where to begin reading, so that a record delivered again (a worker killed
 * between its commit and Kafka's) has none.
 *
 * A queue that was lost and made anew counts from 0 again, below the position. Its records are told from redelivered
 * ones by their time: no record that had its effect is younger than the youngest that had.
 */
@Injectable()
export class QueuePositions {
  constructor(private readonly database: Database) {}

  private readonly prefix = readConfig(kafkaConfig.pick({ KAFKA_TOPIC_PREFIX: true })).KAFKA_TOPIC_PREFIX;

  /** The name of a topic on the broker: one database may see the topics of several prefixes. */
  private named(topic: string): string {
    return `${this.prefix}${topic}`;
  }

  /**
   * Moves the reader's position behind these records and returns those that have had no effect yet. Another process
   * that still works on one of the partitions is waited for.
   */
  async advance<R extends IncomingRecord>(
    tx: Transaction,
    reader: string,
    topic: string,
    records: readonly R[],
  ): Promise<R[]> {
    const partitions = [...new Set(records.map(({ partition }) => partition))];
    const name = this.named(topic);
    let rows = await tx.query<Position>(LOCK, [reader, name, partitions]);
    if (rows.length < partitions.length) {
      await tx.query(CREATE, [reader, name, partitions]);
      rows = await tx.query<Position>(LOCK, [reader, name, partitions]);
    }
    const positions = new Map(rows.map((row) => [row.partition, toCursor(row)]));
    const fresh = records.filter((record) => pass(positions.get(record.partition), record));
    if (fresh.length > 0) await tx.query(MOVE, [reader, name, ...columnsOf(positions)]);
    return fresh;
  }

  /** Where a reader begins: at its position, or with the oldest record of a partition that it has taken nothing of. */
  of(reader: string): Positions {
    return {
      read: async (_group, ranges) => {
        const [topic = ''] = ranges.map((range) => range.topic);
        const rows = await this.database.acrossOrganizations((tx) =>
          tx.query<Position>(READ_OF, [reader, this.named(topic)]),
        );
        const positions = new Map(rows.map((row) => [row.partition, toCursor(row)]));
        return ranges.map(({ partition }) => positions.get(partition));
      },
    };
  }

  /** The furthest position of any reader, by partition. */
  async furthest(tx: Transaction, topic: string): Promise<Map<number, bigint>> {
    const rows = await tx.query<Omit<Position, 'latest_timestamp'>>(READ, [this.named(topic)]);
    return new Map(rows.map(({ partition, next_offset }) => [partition, BigInt(next_offset)]));
  }
}

interface PartitionCursor {
  next: bigint;
  latest: number;
}

function toCursor(row: Position): PartitionCursor {
  return { next: BigInt(row.next_offset), latest: Number(row.latest_timestamp) };
}

/** Whether the record is new; if it is, the cursor moves behind it. */
function pass(
  cursor: PartitionCursor | undefined,
  { partition, offset, timestamp }: IncomingRecord,
): boolean {
  if (!cursor) throw new TypeError(`No position is kept for partition ${partition}`);
  const at = BigInt(offset);
  if (at < cursor.next && timestamp <= cursor.latest) return false;
  if (at < cursor.next) log.warn({ partition, offset }, 'The queue was made anew: its offsets begin again');
  cursor.next = at + 1n;
  cursor.latest = Math.max(cursor.latest, timestamp);
  return true;
}

function columnsOf(positions: ReadonlyMap<number, PartitionCursor>): unknown[] {
  return [
    [...positions.keys()],
    [...positions.values()].map(({ next }) => next.toString()),
    [...positions.values()].map(({ latest }) => latest),
  ];
}
