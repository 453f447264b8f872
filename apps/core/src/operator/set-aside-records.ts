import { Injectable } from '@nestjs/common';
import { AUDIT_TOPIC } from '@customer-platform/audit';
import { kafkaConfig, readConfig } from '@customer-platform/config';
import { Clock, Database, ranOut, type WorkerTransaction } from '@customer-platform/database';
import { isInfrastructureError, RecordProducer, RecordProofs, Topics } from '@customer-platform/event-bus';
import type { Publisher } from '@customer-platform/events';
import { AuditLogRepository } from '../audit-log/audit-log.repository.js';
import { entryOf } from '../audit-log/signed-entry.js';
import { decodeRecord } from '../vocabulary/events/event-frame.js';
import { INGESTION_TOPIC } from '../ingestion/ingestion-queue.js';

/** A record holds a megabyte at most: so many are in memory at once. */
const PAGE = 20;

const LIST = `
  SELECT topic, partition, record_offset::text AS place, written_at, value, error, key, proof
    FROM unreadable_records
   WHERE topic = ANY($1::text[])
     AND ($2::text[] IS NULL OR topic || '/' || partition || '@' || record_offset = ANY($2))
     AND (topic, partition, record_offset, written_at) > ($3, $4, $5::bigint, $6) AND written_at <= $7
   ORDER BY topic, partition, record_offset, written_at LIMIT ${String(PAGE)}`;

const LATEST = 'SELECT max(written_at) AS written_at FROM unreadable_records';

const TAKE = `
  DELETE FROM unreadable_records
   WHERE topic = $1 AND partition = $2 AND record_offset = $3::bigint AND written_at = $4
  RETURNING record_offset::text AS place`;

/** The topics whose records are set aside in this way. */
export const SET_ASIDE_OF = [INGESTION_TOPIC, AUDIT_TOPIC] as const;
type SetAsideTopic = (typeof SET_ASIDE_OF)[number];

/** A record that was set aside. */
export interface SetAsideRecord {
  /** `topic/partition@offset`. Two have the same where the topic was lost and made anew. */
  readonly id: string;
  readonly topic: SetAsideTopic;
  readonly partition: number;
  readonly offset: string;
  readonly writtenAt: Date;
  readonly value: Buffer;
  readonly error: string;
  readonly key: string | undefined;
  /** What it came with to prove its writer. */
  readonly proof: Buffer | undefined;
}

/** Which are meant. */
interface Filter {
  readonly topic?: SetAsideTopic | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** What became of one; without an error it has its effect, and is set aside no more. */
interface Outcome {
  readonly record: SetAsideRecord;
  readonly error?: unknown;
}

interface Row {
  topic: string;
  partition: number;
  place: string;
  written_at: Date;
  value: Buffer;
  error: string;
  key: string | null;
  proof: string | null;
}

type Place = Pick<Row, 'topic' | 'partition' | 'place' | 'written_at'>;

const FIRST: Place = { topic: '', partition: 0, place: '0', written_at: new Date(0) };

/**
 * What core set aside of its own topics, in `unreadable_records`: gives it its effect once the cause is removed. One is
 * taken out in the transaction in which it goes on, so that of two who do so at once one finds nothing.
 */
@Injectable()
export class SetAsideRecords {
  private readonly prefix = readConfig(kafkaConfig.pick({ KAFKA_TOPIC_PREFIX: true })).KAFKA_TOPIC_PREFIX;

  constructor(
    private readonly database: Database,
    private readonly producer: RecordProducer,
    private readonly topics: Topics,
    private readonly proofs: RecordProofs,
    private readonly chains: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** All that the filter leaves and that are there now, in the order of their topics: what goes on may be set aside again. */
  async *all(filter: Filter): AsyncGenerator<SetAsideRecord> {
    const [latest] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ written_at: Date | null }>(LATEST),
    );
    const until = latest?.written_at;
    if (!until) return;
    for (let rows = await this.page(filter, FIRST, until); rows.length > 0;) {
      for (const row of rows) yield this.recordOf(row);
      rows = await this.page(filter, rows.at(-1) ?? FIRST, until);
    }
  }

  /**
   * Each that the filter leaves goes on its way, in the order of their topics: events are written to their topic again,
   * signed anew, and have their effect as any others; an audit row is appended to its log.
   * A crash in between may write events twice, which their keys tell.
   * @param options.unproven somebody answers for what carries no proof of who wrote it
   * @throws whatever says that the database or the broker is away: no record is at fault then. One that runs out of time is left.
   */
  async *redeliver(filter: Filter, { unproven = false } = {}): AsyncGenerator<Outcome> {
    for await (const record of this.all(filter)) {
      try {
        if (record.topic === INGESTION_TOPIC) await this.producer.prepare([INGESTION_TOPIC]);
        const writer = unproven ? undefined : this.writerOf(record);
        if (await this.taken(record, (tx) => this.deliver(tx, record, writer))) yield { record };
      } catch (error) {
        if (isInfrastructureError(error) && !ranOut(error)) throw error;
        yield { record, error };
      }
    }
  }

  /** Whether it was there to be given up. */
  discard(record: SetAsideRecord): Promise<boolean> {
    return this.taken(record, () => Promise.resolve());
  }

  private page({ topic, ids }: Filter, after: Place, until: Date): Promise<Row[]> {
    return this.database.acrossOrganizations((tx) =>
      tx.query<Row>(LIST, [
        (topic ? [topic] : SET_ASIDE_OF).map((name) => this.named(name)),
        ids?.map((id) => this.named(id)) ?? null,
        after.topic,
        after.partition,
        after.place,
        after.written_at,
        until,
      ]),
    );
  }

  private recordOf(row: Row): SetAsideRecord {
    const topic = row.topic.slice(this.prefix.length) as SetAsideTopic;
    const { partition, place: offset, written_at: writtenAt, value, error, key, proof } = row;
    const id = `${topic}/${String(partition)}@${offset}`;
    const bytes = proof === null ? undefined : Buffer.from(proof, 'base64');
    return { id, topic, partition, offset, writtenAt, value, error, key: key ?? undefined, proof: bytes };
  }

  /** @throws UnprovenEvent */
  private writerOf({ topic, key, value, proof }: SetAsideRecord): Publisher | undefined {
    return this.proofs.demand({ topic, key, value }, proof);
  }

  private taken(
    { topic, partition, offset, writtenAt }: SetAsideRecord,
    work: (tx: WorkerTransaction) => Promise<void>,
  ): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      const gone = await tx.query(TAKE, [this.named(topic), partition, offset, writtenAt]);
      if (gone.length > 0) await work(tx);
      return gone.length > 0;
    });
  }

  private async deliver(
    tx: WorkerTransaction,
    { topic, partition, key, value }: SetAsideRecord,
    writer: Publisher | undefined,
  ): Promise<void> {
    if (topic === AUDIT_TOPIC) {
      const entry = entryOf(value, writer);
      await tx.useOrganization(entry.organization_id);
      await this.chains.append(tx, [entry], this.clock);
      return;
    }
    // What cannot be read would only be set aside again.
    decodeRecord(value);
    // One that was made anew may have fewer.
    const at = partition % this.topics.partitionsOf(INGESTION_TOPIC);
    await this.producer.sendToPartition(INGESTION_TOPIC, at, value, { key });
  }

  private named(topic: string): string {
    return `${this.prefix}${topic}`;
  }
}

/** What a record holds, without a value of it. @throws when it cannot be read */
export function contentOf({ topic, value }: SetAsideRecord): { organizations: string[]; holds: string } {
  if (topic === AUDIT_TOPIC) {
    const { organization_id: organization, module, action } = entryOf(value, undefined);
    return { organizations: [organization], holds: `the audit row of ${module} that says ${action}` };
  }
  const events = decodeRecord(value);
  const organizations = [...new Set(events.map(({ organizationId }) => organizationId))];
  return { organizations, holds: events.length === 1 ? '1 event' : `${String(events.length)} events` };
}
