import { Injectable } from '@nestjs/common';
import { kafkaConfig, readConfig } from '@customer-platform/config';
import { Database, type Transaction } from '@customer-platform/database';
import { type IncomingRecord, storable } from '@customer-platform/event-bus';
import { log, metrics } from '@customer-platform/http';
import { Counter } from 'prom-client';

/** A record's time is what its writer says. */
const KEEP = `
  INSERT INTO unreadable_records (topic, partition, record_offset, written_at, value, error)
  VALUES ($1, $2, $3, to_timestamp(greatest(0, least($4::double precision, ${String(Date.UTC(10_000, 0, 1) - 1)})) / 1000), $5, $6) ON CONFLICT DO NOTHING`;

const keptRecords = new Counter({
  name: 'unreadable_records_total',
  help: 'Records of which nothing can be made and that wait in unreadable_records',
  labelNames: ['topic'],
  registers: [metrics],
});

/** Records of a topic that are none: kept for the operator, since nobody knows whose they are. */
@Injectable()
export class UnreadableRecords {
  private readonly prefix = readConfig(kafkaConfig.pick({ KAFKA_TOPIC_PREFIX: true })).KAFKA_TOPIC_PREFIX;

  constructor(private readonly database: Database) {}

  /** Sets a record aside; in the caller's transaction across organizations if there is one. */
  async keep(topic: string, record: IncomingRecord, error: unknown, tx?: Transaction): Promise<void> {
    if (!tx) return this.database.acrossOrganizations((own) => this.keep(topic, record, error, own));
    const { partition, offset, timestamp, value } = record;
    keptRecords.inc({ topic });
    // What a parser says quotes what it read, NUL included.
    const reason = storable((error instanceof Error ? error.message : String(error)).slice(0, 2_000));
    log.error({ topic, partition, offset }, 'A record cannot be read; it is kept in unreadable_records');
    await tx.query(KEEP, [`${this.prefix}${topic}`, partition, offset, timestamp, value, reason]);
  }
}
