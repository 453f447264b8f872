import { Injectable } from '@nestjs/common';
import { kafkaConfig, readConfig } from '@customer-platform/config';
import { Database, type Transaction } from '@customer-platform/database';
import { type IncomingRecord, storable } from '@customer-platform/event-bus';
import { RECORD_TOPICS, UnprovenEvent } from '@customer-platform/events';
import { log, metrics } from '@customer-platform/http';
import { Counter } from 'prom-client';

/** A record's time is what its writer says. */
const KEEP = `
  INSERT INTO unreadable_records (topic, partition, record_offset, written_at, value, error, key, proof)
  VALUES ($1, $2, $3, to_timestamp(greatest(0, least($4::double precision, ${String(Date.UTC(10_000, 0, 1) - 1)})) / 1000), $5, $6, $7, $8) ON CONFLICT DO NOTHING`;

const keptRecords = new Counter({
  name: 'unreadable_records_total',
  help: 'Records of which nothing can be made and that wait in unreadable_records',
  labelNames: ['topic', 'cause'],
  registers: [metrics],
});
// An alert is told of a rise: a count that begins with its first record has none.
for (const topic of Object.keys(RECORD_TOPICS))
  for (const cause of ['unproven', 'unreadable']) keptRecords.inc({ topic, cause }, 0);

/** Records of a topic that are none: kept for the operator, since nobody knows whose they are. */
@Injectable()
export class UnreadableRecords {
  private readonly prefix = readConfig(kafkaConfig.pick({ KAFKA_TOPIC_PREFIX: true })).KAFKA_TOPIC_PREFIX;

  constructor(private readonly database: Database) {}

  /** Sets a record aside; in the caller's transaction across organizations if there is one. */
  async keep(topic: string, record: IncomingRecord, error: unknown, tx?: Transaction): Promise<void> {
    if (!tx) return this.database.acrossOrganizations((own) => this.keep(topic, record, error, own));
    const { partition, offset, timestamp, value, key, proof } = record;
    const isUnproven = error instanceof UnprovenEvent;
    keptRecords.inc({ topic, cause: isUnproven ? 'unproven' : 'unreadable' });
    // What a parser says quotes what it read, NUL included.
    const reason = storable((error instanceof Error ? error.message : String(error)).slice(0, 2_000));
    const what = isUnproven ? 'is not proven to be of a module that writes there' : 'cannot be read';
    log.error({ topic, partition, offset }, `A record ${what}; it is kept in unreadable_records`);
    await tx.query(KEEP, [
      `${this.prefix}${topic}`,
      partition,
      offset,
      timestamp,
      value,
      reason,
      key === undefined ? null : storable(key),
      proof?.toString('base64') ?? null,
    ]);
  }
}
