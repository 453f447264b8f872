import { Injectable } from '@nestjs/common';
import { jsons, newId, type Transaction } from '@customer-platform/database';
import { checkEvent, sourceOf, topicOf, type EventData, type EventType } from '@customer-platform/events';
import { OutboxSignal } from './outbox.signal.js';
import { shardOf } from './shards.js';

/** A domain event to publish; the outbox adds the envelope. */
export type NewDomainEvent<T extends EventType = EventType> = {
  [K in T]: {
    type: K;
    organizationId: string;
    /** The Kafka key: events that share it keep their order. */
    key: string;
    /** What the event is about: `contacts/<id>`. */
    subject: string;
    data: EventData<K>;
    correlationId: string;
    /** The event that led to this one. */
    causationId?: string;
    /** Default: a fresh version 7. */
    id?: string;
    /** When it happened, UTC with milliseconds; default now. */
    time?: string;
  };
}[T];

/** A message to publish as it stands, on a topic of one's choice (the audit's). */
interface OutboxMessage {
  readonly organizationId: string;
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  /** Of a domain event: it travels as a header, too. */
  readonly type?: string;
}

/** A message as a row holds it. Older versions of a service wrote none with a type, and pass it over where they read one. */
export type StoredMessage = [key: string, value: string, type?: string];

interface Row {
  shard: number;
  topic: string;
  messages: StoredMessage[];
  bytes: number;
}

/** A row holds at most this much, so that a relay can bound what it takes at once. */
const ROW_BYTES = 128 * 1024;

/** Below the 1 MiB that the broker takes, with room for headers. */
const MESSAGE_BYTES = 900_000;

/**
 * Whose a row is that holds messages of several organizations. Only a transaction that crosses organizations can write
 * one: the policy refuses it to every other, as it refuses them a row of another organization.
 */
const SEVERAL = '00000000-0000-0000-0000-000000000000';

const INSERT = `
  INSERT INTO outbox (organization_id, shard, topic, messages)
  SELECT $1::uuid, shard, topic, messages
    FROM unnest($2::smallint[], $3::text[], $4::json[]) WITH ORDINALITY AS row (shard, topic, messages, place)
   ORDER BY place`;

/** Where a module leaves what it has to tell: rows of the business transaction, published by the relay. */
@Injectable()
export class Outbox {
  constructor(private readonly signal: OutboxSignal) {}

  /**
   * Publishes the events if, and only if, the transaction commits; events of one key in the order in which they are
   * appended (take the lock that serializes writers of a key before appending). At least once.
   * @throws InvalidDomainEvent for what no consumer could read: the whole transaction is refused then
   */
  async append(tx: Transaction, events: NewDomainEvent | readonly NewDomainEvent[]): Promise<void> {
    const now = new Date().toISOString();
    const list = Array.isArray(events) ? (events as readonly NewDomainEvent[]) : [events as NewDomainEvent];
    await this.appendMessages(
      tx,
      list.map((event) => messageOf(event, now)),
    );
  }

  /**
   * As `append`, for messages that are no domain events.
   * @throws RangeError when a message is larger than the broker takes: its shard would never get past it
   */
  async appendMessages(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const rows = toRows(messages);
    await tx.prepared(INSERT, [
      ownerOf(messages),
      rows.map((row) => row.shard),
      rows.map((row) => row.topic),
      jsons(rows.map((row) => JSON.stringify(row.messages))),
    ]);
    tx.afterCommit(() => {
      this.signal.raise();
    });
  }
}

/** What all events of a type have alike; the same texts each time, which are compared and written for less. */
interface Publication {
  readonly source: string;
  readonly topic: string;
}
const publications = new Map<EventType, Publication>();

function publicationOf(type: EventType): Publication {
  const known = publications.get(type);
  if (known) return known;
  const fresh = { source: sourceOf(type), topic: topicOf(type) };
  publications.set(type, fresh);
  return fresh;
}

function messageOf(event: NewDomainEvent, now: string): OutboxMessage {
  const { source, topic } = publicationOf(event.type);
  const envelope = {
    specversion: '1.0',
    id: event.id ?? newId(),
    type: event.type,
    source,
    subject: event.subject,
    time: event.time ?? now,
    datacontenttype: 'application/json',
    organizationid: event.organizationId,
    correlationid: event.correlationId,
    causationid: event.causationId,
    data: event.data,
  };
  checkEvent(envelope);
  return {
    organizationId: event.organizationId,
    topic,
    key: event.key,
    value: JSON.stringify(envelope),
    type: event.type,
  };
}

/** The organization of all messages, or what stands for several. */
function ownerOf([first, ...rest]: readonly OutboxMessage[]): string {
  const organizationId = first?.organizationId ?? SEVERAL;
  return rest.every((message) => message.organizationId === organizationId) ? organizationId : SEVERAL;
}

/**
 * One row per shard and topic, however many organizations there are, split where it grows beyond its bound; in each the
 * order of appending.
 */
function toRows(messages: readonly OutboxMessage[]): Row[] {
  const rows: Row[] = [];
  const open = new Map<string, (Row | undefined)[]>();
  for (const { topic, key, value, type } of messages) {
    if (isTooLarge(value)) throw new RangeError(`A message of ${topic} is too large to publish`);
    const shard = shardOf(key);
    const ofTopic = open.get(topic) ?? [];
    open.set(topic, ofTopic);
    let row = ofTopic[shard];
    if (!row || row.bytes + value.length > ROW_BYTES) {
      row = { shard, topic, messages: [], bytes: 0 };
      ofTopic[shard] = row;
      rows.push(row);
    }
    row.messages.push(type === undefined ? [key, value] : [key, value, type]);
    row.bytes += value.length;
  }
  return rows;
}

/** A character takes three bytes at most: most messages need not be measured. */
function isTooLarge(value: string): boolean {
  return value.length * 3 > MESSAGE_BYTES && Buffer.byteLength(value) > MESSAGE_BYTES;
}
