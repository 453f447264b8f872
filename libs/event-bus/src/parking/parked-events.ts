import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, newId } from '@customer-platform/database';
import { ForeignEvent, UnprovenEvent } from '@customer-platform/events';
import { log, metrics } from '@customer-platform/http';
import { Counter } from 'prom-client';
import type { EventFailure } from '../delivery/event-delivery.js';
import type { ReceivedEvent } from '../transport/received-event.js';

/** A message that is no domain event, or not one of its topic's module. */
interface InvalidMessage {
  /** Whose it is, as far as it says so. */
  readonly organizationId: string | undefined;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly type: string;
  readonly payload: string;
  readonly proof: Buffer | undefined;
  readonly error: Error;
}

/** An event that waits, as an operator sees it and as it is delivered again. */
export interface ParkedEvent {
  readonly organization_id: string;
  readonly id: string;
  /** Group and class that could not process it; the group alone for a message that nobody could read. */
  readonly consumer: string;
  readonly topic: string;
  readonly key: string;
  /** In base64: what a message came with that nobody could read, or believe. */
  readonly proof: string | null;
  readonly event_id: string;
  readonly event_type: string;
  readonly correlation_id: string | null;
  readonly payload: string;
  readonly error: string;
  readonly attempts: number;
  readonly parked_at: Date;
}

/** How many events of a type wait for a consumer. */
export interface ParkedCount {
  readonly organization_id: string;
  readonly consumer: string;
  readonly event_type: string;
  readonly waiting: number;
}

/** Which parked events are meant; all of them unless something is said. */
export interface ParkedFilter {
  readonly organizationId?: string | undefined;
  readonly consumer?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

const parkedTotal = new Counter({
  name: 'events_parked_total',
  help: 'Events that a consumer could not process and that wait in parked_events',
  labelNames: ['consumer', 'type'],
  registers: [metrics],
});

/** The organization of messages that name none. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

const PARK = `
  INSERT INTO parked_events (organization_id, id, consumer, topic, key, event_id, event_type, correlation_id, payload,
                             error, attempts, proof)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  ON CONFLICT (organization_id, consumer, event_id)
  DO UPDATE SET error = EXCLUDED.error, attempts = parked_events.attempts + EXCLUDED.attempts, parked_at = now()`;

/** By the row's id, which is of the time it was first parked: what fails again does not come twice into one walk. */
const PAGE = `
  SELECT organization_id, id, consumer, topic, key, proof, event_id, event_type, correlation_id, payload, error, attempts, parked_at
    FROM parked_events
   WHERE ($1::uuid IS NULL OR organization_id = $1) AND ($2::text IS NULL OR consumer = $2)
     AND ($3::uuid[] IS NULL OR id = ANY ($3)) AND ($4::uuid IS NULL OR id > $4)
   ORDER BY id LIMIT $5`;

/** What is no event may name any type; it is a label of the metric. */
const LONGEST_TYPE = 100;
/** Bounded twice: asked for at every scrape, and each row it gives is a series of the metric. */
const COUNTS = `
  SELECT organization_id, consumer, event_type, count(*)::int AS waiting
    FROM (SELECT organization_id, consumer, left(event_type, 100) AS event_type FROM parked_events LIMIT 20000) AS piece
   GROUP BY organization_id, consumer, event_type
   ORDER BY waiting DESC, organization_id, consumer, event_type LIMIT 200`;

/** Where events wait that a consumer could not process and has no way of its own to set aside. */
@Injectable()
export class ParkedEvents {
  constructor(private readonly database: Database) {}

  /** Keeps an event that failed for the last time. Repeatable. */
  async park(consumer: string, received: ReceivedEvent, failure: EventFailure): Promise<void> {
    const { event } = received;
    parkedTotal.inc({ consumer, type: event.type });
    log.error(
      {
        err: failure.error,
        consumer,
        organization_id: event.organizationid,
        event_id: event.id,
        type: event.type,
        subject: event.subject,
        correlation_id: event.correlationid,
      },
      'An event is parked',
    );
    await this.database.inOrganization({ organizationId: event.organizationid }, (tx) =>
      tx.query(PARK, [
        event.organizationid,
        newId(),
        consumer,
        received.topic,
        storable(received.key),
        event.id,
        event.type,
        event.correlationid,
        JSON.stringify(event),
        describe(failure.error),
        failure.attempts,
        null,
      ]),
    );
  }

  /** What waits, of any organization, the longest parked first, behind `after`. */
  async page(filter: ParkedFilter, most: number, after?: ParkedEvent): Promise<ParkedEvent[]> {
    const { organizationId = null, consumer = null, ids = null } = filter;
    return this.database.acrossOrganizations((tx) =>
      tx.query<ParkedEvent>(PAGE, [organizationId, consumer, ids, after?.id ?? null, most]),
    );
  }

  /** How many wait of each organization, consumer and type; counted to a bound, the most first. */
  async counts(): Promise<ParkedCount[]> {
    return this.database.acrossOrganizations((tx) => tx.query<ParkedCount>(COUNTS));
  }

  /** Forgets an event that has had its effect. */
  async remove({ organization_id: organizationId, id }: ParkedEvent): Promise<void> {
    await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query('DELETE FROM parked_events WHERE organization_id = $1 AND id = $2', [organizationId, id]),
    );
  }

  /** Notes that it could still not be processed. */
  async failedAgain({ organization_id: organizationId, id }: ParkedEvent, error: unknown): Promise<void> {
    await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query(
        `UPDATE parked_events SET error = $3, attempts = attempts + 1, parked_at = now()
          WHERE organization_id = $1 AND id = $2`,
        [organizationId, id, describe(error)],
      ),
    );
  }

  /** Keeps a message that cannot be read, once for its place in the topic. */
  async parkInvalid(consumer: string, message: InvalidMessage): Promise<void> {
    const { organizationId = NOBODY, topic, partition, offset } = message;
    const { type, sentence } = kindOf(message.error);
    parkedTotal.inc({ consumer, type });
    log.error(
      { err: message.error, consumer, organization_id: organizationId, topic, partition, offset },
      sentence,
    );
    const id = placeId(`${topic} ${String(partition)} ${offset}`);
    await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query(PARK, [
        organizationId,
        newId(),
        consumer,
        topic,
        storable(message.key),
        id,
        storable(message.type.slice(0, LONGEST_TYPE)),
        null,
        storable(message.payload),
        describe(message.error),
        1,
        message.proof?.toString('base64') ?? null,
      ]),
    );
  }
}

/** The label of the metric, and what the log says. */
function kindOf(error: Error): { type: string; sentence: string } {
  if (error instanceof UnprovenEvent)
    return { type: 'unproven', sentence: 'A message that carries no proof of its module is parked' };
  if (error instanceof ForeignEvent)
    return { type: 'foreign', sentence: 'A message that its topic’s module did not write is parked' };
  return { type: 'invalid', sentence: 'A message that is no domain event is parked' };
}

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return storable(text.slice(0, 2_000));
}

/** PostgreSQL keeps no NUL in a text: what holds one would never be parked, and its partition would stand still. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD');
}

/** A UUID version 8 made of a place, so that a second delivery is the same row. */
function placeId(place: string): string {
  const hex = createHash('sha256').update(place).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
