/** Where a reader stands in a partition. */
export interface Position {
  /** The offset of the first record that has had no effect yet. */
  readonly next: bigint;
  /** When the youngest record that had its effect was written, in milliseconds; undefined where that is not known. */
  readonly latest: number | undefined;
}

/** A place that the broker knows: a partition, and what it holds. */
export interface PartitionRange {
  readonly topic: string;
  readonly partition: number;
  /** The offset of the oldest record that is still there … */
  readonly low: bigint;
  /** … and of the one that will be written next. */
  readonly high: bigint;
  /** Where Kafka's own offset of the group stands; undefined where it has none. */
  readonly committed: bigint | undefined;
}

/**
 * The positions of a consumer, kept in the database with the effects: they are restored together. Kafka's own offsets
 * are of another age once a database was restored, and say nothing about what has had its effect.
 */
export interface Positions {
  /** The position in each of these partitions; where there is none yet, what it says is where reading begins. */
  read(group: string, ranges: readonly PartitionRange[]): Promise<(Position | undefined)[]>;
  /** As `read`, for who only measures: nothing is written. Without it, `read` writes nothing. */
  look?(group: string, ranges: readonly PartitionRange[]): Promise<(Position | undefined)[]>;
  /** The effects of all records below it are in the database; told after every chunk. */
  moved?(group: string, topic: string, partition: number, position: Position): void;
  /** Writes what was told, before the process leaves the group. */
  flush?(): Promise<void>;
}
