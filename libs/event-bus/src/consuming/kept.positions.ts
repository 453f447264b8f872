import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { KafkaClient } from '../kafka/kafka.client.js';
import type { PartitionRange, Position, Positions } from './positions.js';

/** What had its effect may be delivered again, so positions are written seldom: a restore repeats a second at most. */
const WRITE_EVERY_MS = 1_000;

const READ = `
  SELECT topic, partition, next_offset::text, latest_timestamp::text FROM consumer_positions
   WHERE consumer = $1 AND topic = ANY($2::text[])`;

/**
 * A position never goes back, whoever tells it late: one of a younger record is the later one, and of the same record's
 * time the one with the higher offset. A topic that was made again counts from 0, with younger records.
 */
const WRITE = `
  INSERT INTO consumer_positions (consumer, topic, partition, next_offset, latest_timestamp)
  SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[], $5::bigint[])
   ORDER BY 1, 2, 3
  ON CONFLICT (consumer, topic, partition)
  DO UPDATE SET next_offset = excluded.next_offset, latest_timestamp = excluded.latest_timestamp
   WHERE (coalesce(excluded.latest_timestamp, -1), excluded.next_offset)
       > (coalesce(consumer_positions.latest_timestamp, -1), consumer_positions.next_offset)`;

interface Row {
  topic: string;
  partition: number;
  next_offset: string;
  latest_timestamp: string | null;
}

interface Moved {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly position: Position;
}

/**
 * The positions of consumers whose effects may be repeated, because an inbox or a key tells what has been done. They
 * are written behind the effects, once a second: a backup never holds a position before the effects below it.
 */
@Injectable()
export class KeptPositions implements Positions, OnModuleDestroy {
  private readonly unwritten = new Map<string, Moved>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly client: KafkaClient,
  ) {}

  /** One that was never kept begins where Kafka's offset stands, and is kept from now on. */
  async read(group: string, ranges: readonly PartitionRange[]): Promise<Position[]> {
    await this.flush();
    const kept = await this.kept(group, ranges);
    const positions = ranges.map((range, at) => kept[at] ?? startOf(range));
    const fresh = ranges.flatMap(({ topic, partition }, at): Moved[] => {
      const position = positions[at];
      return kept[at] || !position ? [] : [{ group, topic, partition, position }];
    });
    if (fresh.length > 0) await this.write(fresh);
    return positions;
  }

  async look(group: string, ranges: readonly PartitionRange[]): Promise<Position[]> {
    const kept = await this.kept(group, ranges);
    return ranges.map((range, at) => kept[at] ?? startOf(range));
  }

  private async kept(group: string, ranges: readonly PartitionRange[]): Promise<(Position | undefined)[]> {
    const topics = [...new Set(ranges.map(({ topic }) => this.client.named(topic)))];
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<Row>(READ, [this.client.named(group), topics]),
    );
    const found = new Map(rows.map((row) => [`${row.topic}/${String(row.partition)}`, row]));
    return ranges.map(({ topic, partition }) => {
      const row = found.get(`${this.client.named(topic)}/${String(partition)}`);
      if (!row) return undefined;
      const latest = row.latest_timestamp === null ? undefined : Number(row.latest_timestamp);
      return { next: BigInt(row.next_offset), latest };
    });
  }

  moved(group: string, topic: string, partition: number, position: Position): void {
    const key = `${group} ${topic}/${String(partition)}`;
    const told = this.unwritten.get(key);
    if (!told || isLater(position, told.position)) {
      this.unwritten.set(key, { group, topic, partition, position });
    }
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush().catch((error: unknown) => {
        log.warn({ err: error }, 'The positions of the consumers could not be written; they will be');
      });
    }, WRITE_EVERY_MS).unref();
  }

  async flush(): Promise<void> {
    // One after the other: a position that overtakes a later one would go back.
    const write = (): Promise<void> => this.writeAll();
    this.writing = this.writing.then(write, write);
    await this.writing;
  }

  async onModuleDestroy(): Promise<void> {
    clearTimeout(this.timer);
    await this.flush().catch((error: unknown) => {
      log.warn({ err: error }, 'The last positions of the consumers could not be written');
    });
  }

  private async writeAll(): Promise<void> {
    const moved = [...this.unwritten.entries()];
    if (moved.length === 0) return;
    this.unwritten.clear();
    try {
      await this.write(moved.map(([, each]) => each));
    } catch (error) {
      for (const [key, each] of moved) if (!this.unwritten.has(key)) this.unwritten.set(key, each);
      throw error;
    }
  }

  private async write(moved: readonly Moved[]): Promise<void> {
    await this.database.acrossOrganizations((tx: WorkerTransaction) =>
      tx.query(WRITE, [
        moved.map(({ group }) => this.client.named(group)),
        moved.map(({ topic }) => this.client.named(topic)),
        moved.map(({ partition }) => partition),
        moved.map(({ position }) => position.next.toString()),
        moved.map(({ position }) => position.latest ?? null),
      ]),
    );
  }
}

/** Where one begins that was never kept. */
function startOf({ low, committed }: PartitionRange): Position {
  return { next: committed ?? low, latest: undefined };
}

/** As the statement that writes them has it. */
function isLater(one: Position, other: Position): boolean {
  const [time, otherTime] = [one.latest ?? -1, other.latest ?? -1];
  return time === otherTime ? one.next > other.next : time > otherTime;
}
