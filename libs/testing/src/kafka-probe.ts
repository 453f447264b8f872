import { randomUUID } from 'node:crypto';
import { RecordConsumers, RecordProducer } from '@customer-platform/event-bus';
import {
  parseDomainEvent,
  publisherOf,
  topicOf,
  topicOfModule,
  type DomainEvent,
  type EventType,
  type Publisher,
} from '@customer-platform/events';
import { proofBy } from './service-keys.js';
import { envelopeOf, keyOf, type ProbeEvent } from './domain-event.js';
import { eventually, type Patience } from './eventually.js';
import type { TestApp } from './test-app.js';

/** The broker as a test sees it: publishes as another module would, collects what a module publishes. */
export class KafkaProbe {
  private readonly collected: DomainEvent[] = [];

  constructor(private readonly app: TestApp) {}

  /** Publishes events in this order, at least once; resolves when the broker has them. Returns them with their envelopes. */
  async publish<T extends EventType>(...events: ProbeEvent<T>[]): Promise<DomainEvent[]> {
    const producer = this.app.app.get(RecordProducer);
    const made = events.map(envelopeOf);
    // The first send also creates the topic; until the broker is quick enough, all of it again, in the same order.
    await eventually(() =>
      Promise.all(
        made.map((event) => {
          const topic = topicOf(event.type);
          const record = { key: keyOf(event), value: JSON.stringify(event) };
          return producer.send(topic, {
            ...record,
            headers: proofBy(publisherOf(event.type), { topic, ...record }),
          });
        }),
      ),
    );
    return made;
  }

  /** Begins to collect a module's events, from the beginning of its topic. */
  collect(module: Publisher): void {
    const topic = topicOfModule(module);
    this.app.app.get(RecordConsumers).consume({
      topic,
      group: `probe-${randomUUID()}`,
      eachChunk: (records) => {
        this.collected.push(...records.map(({ value }) => parseDomainEvent(topic, value.toString('utf8'))));
        return Promise.resolve();
      },
    });
  }

  /** What has been collected of a type in an organization, in the order of arrival. */
  events<T extends EventType>(type: T, organizationId: string): DomainEvent<T>[] {
    return this.collected.filter(
      (event) => event.type === type && event.organizationid === organizationId,
    ) as DomainEvent<T>[];
  }

  /** Waits until at least `count` events of the type have come. */
  async expectEvents<T extends EventType>(
    type: T,
    organizationId: string,
    count: number,
    patience?: Patience,
  ): Promise<DomainEvent<T>[]> {
    return eventually(() => {
      const found = this.events(type, organizationId);
      if (found.length < count) throw new Error(`${found.length} of ${count} events ${type} have come`);
      return found;
    }, patience);
  }
}

/** A probe over the running app's connections and topics. */
export function kafkaProbe(app: TestApp): KafkaProbe {
  return new KafkaProbe(app);
}
