import { Injectable } from '@nestjs/common';
import {
  InvalidDomainEvent,
  isOfTopic,
  parseDomainEvent,
  TYPE_HEADER,
  UnknownEventType,
  UnprovenEvent,
  type DomainEvent,
  type EventType,
} from '@customer-platform/events';
import { log, yieldLoop } from '@customer-platform/http';
import type { KafkaMessage } from 'kafkajs';
import type { Chunk } from '../consuming/supervised.consumer.js';
import { ParkedEvents } from '../parking/parked-events.js';
import { proofIn, RecordProofs, VERIFIED_AT_ONCE } from '../proof/record-proofs.js';
import type { ReceivedEvent } from './received-event.js';

/**
 * Reads those messages that are domain events of the wanted types. One whose header tells of another type is passed over
 * unread; one without the header, of an older publisher, is read for it. What is no event is parked, and what is not of
 * the topic's module, or is not proven to be: nobody else writes there. What a newer publisher has added is passed over.
 */
@Injectable()
export class EventReader {
  constructor(
    private readonly parked: ParkedEvents,
    private readonly proofs: RecordProofs,
  ) {}

  async read(chunk: Chunk, consumer: string, wanted: ReadonlySet<EventType>): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = [];
    let looked = 0;
    for (const message of chunk.messages) {
      const told = typeInHeader(message);
      if (told !== undefined && isOfTopic(told, chunk.topic) && !(wanted as ReadonlySet<string>).has(told))
        continue;
      looked += 1;
      if (looked % VERIFIED_AT_ONCE === 0) await yieldLoop();
      try {
        const event = parseDomainEvent(chunk.topic, message.value?.toString('utf8') ?? '', wanted);
        if (!event) continue;
        this.demandProof(chunk, message, event);
        const key = message.key?.toString('utf8') ?? '';
        events.push({
          key,
          type: event.type,
          topic: chunk.topic,
          part: partOf(chunk),
          owner: event.organizationid,
          event,
        });
      } catch (error) {
        if (error instanceof UnknownEventType)
          log.debug({ type: error.type }, 'An event of an unknown type is passed over');
        else if (error instanceof InvalidDomainEvent) await this.parkInvalid(chunk, consumer, message, error);
        else throw error;
      }
    }
    return events;
  }

  /** @throws UnprovenEvent, which is parked where the event says it belongs */
  private demandProof({ topic }: Chunk, message: KafkaMessage, event: DomainEvent): void {
    const { key, value } = message;
    try {
      this.proofs.demand({ topic, key: key?.toString('utf8'), value: value ?? '' }, proofIn(message));
    } catch (error) {
      if (error instanceof UnprovenEvent) throw error.of(event);
      throw error;
    }
  }

  private async parkInvalid(
    chunk: Chunk,
    consumer: string,
    message: KafkaMessage,
    error: InvalidDomainEvent,
  ): Promise<void> {
    await this.parked.parkInvalid(consumer, {
      organizationId: error.organizationId,
      topic: chunk.topic,
      partition: chunk.partition,
      offset: message.offset,
      key: message.key?.toString('utf8') ?? '',
      type: error.type ?? '',
      payload: message.value?.toString('utf8') ?? '',
      proof: proofIn(message),
      error,
    });
  }
}

/** The name of a chunk's partition. */
export function partOf({ topic, partition }: Pick<Chunk, 'topic' | 'partition'>): string {
  return `${topic}/${String(partition)}`;
}

/** As the publisher says; undefined where it does not, or says it more than once. */
function typeInHeader({ headers }: KafkaMessage): string | undefined {
  const told = headers?.[TYPE_HEADER];
  return Buffer.isBuffer(told) ? told.toString('utf8') : undefined;
}
